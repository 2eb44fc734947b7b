# Meshgrade in a container; deploy/README.md says with which options to run it.
# With --build-arg GPU_COMPILER=yes, the Explorer can compile for GPUs. That adds 0.5 GB. With --build-arg TPU_COMPILER=yes, it
# can compile for TPUs. That adds 0.7 GB, under the terms of Google Cloud, and needs x86-64. PYTHON_DIGEST, such as @sha256:…, pins
# the base image to a digest.
ARG PYTHON_DIGEST=
FROM python:3.11.14-slim-bookworm${PYTHON_DIGEST} AS build
ARG GPU_COMPILER=no
ARG TPU_COMPILER=no
ENV UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy
RUN pip install --no-cache-dir uv==0.13.8
WORKDIR /opt/meshgrade-service
# Alone, so that a change of our own code does not install the packages again.
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-dev --no-cache --compile-bytecode $([ "$TPU_COMPILER" = no ] || echo --extra tpu)
COPY gpu-compiler.txt ./
RUN [ "$GPU_COMPILER" = no ] \
    || uv pip install --python .venv/bin/python --no-cache --target .venv/lib/gpu-compiler --no-deps --require-hashes --requirements gpu-compiler.txt

FROM python:3.11.14-slim-bookworm${PYTHON_DIGEST}
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap git libseccomp2 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 meshgrade \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin meshgrade \
    && install --directory --owner 10001 --group 10001 --mode 0700 /data
WORKDIR /opt/meshgrade-service
# Same path as where it was made: a virtual environment names its own. Everything belongs to root: the service reads it.
COPY --from=build /opt/meshgrade-service/.venv .venv
COPY LICENSE ./
COPY migrations migrations
COPY problems problems
COPY lessons lessons
COPY grader grader
COPY app app
# The image is read-only, so Python could never store what it compiles at each start. Python's own library comes without it, too.
# The files name no time of change: the sources beside them never change.
RUN python -m compileall -q --invalidation-mode unchecked-hash -x '/(test|tests|lib2to3|site-packages)/' \
        "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" \
    && python -m compileall -q --invalidation-mode unchecked-hash app grader migrations
ENV PYTHONPATH=/opt/meshgrade-service PYTHONDONTWRITEBYTECODE=1 \
    MESHGRADE_HOST=0.0.0.0 MESHGRADE_DATA=/data MESHGRADE_LOG_FORMAT=json
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD [".venv/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT [".venv/bin/python", "-m", "app.entry.cli"]
CMD ["serve"]
