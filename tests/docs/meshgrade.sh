#!/bin/sh
# Stands in for ./meshgrade where the tests follow the documentation: the same command line, without the set-up that the
# wrapper does (tests/test_wrapper.py). `serve`, `worker` and `problem preview` return as soon as they are ready, and keep
# running; a reader who starts one again has pressed Ctrl-C first.
case ${1-} in
problem)
    if [ "${2-}" != preview ]; then exec "$DOCS_PYTHON" -m app.entry.cli "$@"; fi
    set -- "$DOCS_SERVE" "$@"
    ;;
serve) set -- "$DOCS_SERVE" "$@" ;;
worker) set -- "$DOCS_WORKER" "$@" ;;
*) exec "$DOCS_PYTHON" -m app.entry.cli "$@" ;;
esac
script=$1 kind=$2
shift
if [ -e "$DOCS_RUNNING/$kind.pid" ]; then
    read -r before <"$DOCS_RUNNING/$kind.pid"
    kill "$before"
    while kill -0 "$before" 2>/dev/null; do sleep 0.1; done
fi
# Emptied here: the new process may do so only after `grep` has read what the one before it printed.
: >"$DOCS_RUNNING/$kind.out"
# shellcheck disable=SC2086  # a module is two words: -m app.entry.cli
nohup setsid "$DOCS_PYTHON" $script "$@" >"$DOCS_RUNNING/$kind.out" 2>"$DOCS_RUNNING/$kind.err" </dev/null 3<&- 4>&- &
echo $! >"$DOCS_RUNNING/$kind.pid"
until grep -qE 'Ctrl-C|Waiting for the server' "$DOCS_RUNNING/$kind.out"; do
    kill -0 $! 2>/dev/null || {
        cat "$DOCS_RUNNING/$kind.err" >&2
        exit 1
    }
    sleep 0.1
done
cat "$DOCS_RUNNING/$kind.out"
