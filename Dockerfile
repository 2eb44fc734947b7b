# Meshgrade in a container, for systems whose own sandbox cannot be used.
# bubblewrap makes namespaces inside, which Docker's default seccomp profile forbids:
#   docker run --security-opt seccomp=unconfined --cap-add SYS_ADMIN -p 8000:8000 -v meshgrade-data:/data meshgrade
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
