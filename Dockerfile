# Meshgrade in a container; deploy/README.md says with which options to run it.
FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap libseccomp2 \
    && rm -rf /var/lib/apt/lists/* \
    && pip install --no-cache-dir uv
WORKDIR /opt/meshgrade-service
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-dev --no-cache
COPY . .
ENV PYTHONPATH=/opt/meshgrade-service
EXPOSE 8000
VOLUME /data
HEALTHCHECK --interval=30s --timeout=5s CMD [".venv/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD [".venv/bin/python", "-m", "app.cli", "serve", "--host", "0.0.0.0", "--data", "/data"]
