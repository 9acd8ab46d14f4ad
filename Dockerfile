# CPU image. Models are pulled at the first start into the volume /models.
FROM python:3.11-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements/cpu.lock requirements/
RUN python -m venv /opt/sampan && \
    CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON" \
    /opt/sampan/bin/pip install --no-cache-dir --require-hashes -r requirements/cpu.lock
COPY . .
RUN /opt/sampan/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/* && \
    useradd --system --create-home --uid 10001 sampan && install -d -o sampan /models
COPY --from=build /opt/sampan /opt/sampan
USER sampan
ENV PATH=/opt/sampan/bin:$PATH SAMPAN_MODELS=/models SAMPAN_SERVER_HOST=0.0.0.0
VOLUME /models
EXPOSE 8470
# SAMPAN_AUTH_SECRET has to be given: without it the server refuses to listen beyond loopback.
HEALTHCHECK --interval=10s --timeout=3s --start-period=300s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8470/readyz', timeout=2)"]
CMD ["sampan", "serve"]
