# Each target sets up what it needs: system packages (apt, as root), .venv from the hashed lock, models.
PYTHON ?= python3
BIN := .venv/bin
INPUT ?=
ONCE ?=
TO ?= zh-Hans

.PHONY: demo test lint quality bench lock clean

demo: .venv/demo.stamp
	@$(if $(filter mic,$(INPUT)),tools/system-packages libportaudio2)
	@$(BIN)/sampan demo $(if $(INPUT),--input "$(INPUT)") $(if $(ONCE),--once) --lang $(TO)

test: .venv/dev.stamp
	@$(BIN)/sampan models pull
	@tools/system-packages chromium
	@$(BIN)/pytest -m "not quality"

lint: .venv/dev.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# Scored on real speech and text; looks for them in $$SAMPAN_TEST_DATA, then ../shared/data.
quality: .venv/dev.stamp
	@$(BIN)/sampan models pull
	@$(BIN)/pytest -m quality -s

bench: .venv/dev.stamp
	@$(BIN)/python -m loadtest.fanout_bench
	@$(BIN)/python -m tests.benchmarks.mt_batching

lock: .venv/dev.stamp
	@tools/lock $(BIN)/uv

clean:
	rm -rf .venv build dist

.venv/%.stamp: requirements/%.lock pyproject.toml
	@tools/system-packages python3-venv g++
	@tools/environment $(PYTHON) $*
	@touch $@
