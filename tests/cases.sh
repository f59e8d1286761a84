# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# cases.sh - what programs of cases share; to be sourced, with $case_limit_s set
#
# A case is a function case_NAME of the program. It runs in a process of its own, by the program's function run_one NAME
# [ARGUMENT], which makes a scratch directory $dir, copies $dir/why to $result at its end, and calls the case. A case that
# returns has passed; `fail WHY` and `skip WHY` end it.

fail() { echo "$*" >"$dir/why"; exit 1; }
skip() { echo "$*" >"$dir/why"; exit 77; }
needs() { local program; for program; do command -v "$program" >/dev/null || skip "there is no $program"; done; }

# Run a case, if that is what the program was started for.
enter_case() { # ARGUMENTS OF THE PROGRAM
	[ "${1-}" = --case ] || return 0
	result=$2
	shift 2
	run_one "$@"
	exit 0
}

need_programs() { # PROGRAM...
	local program
	for program; do
		[ -x "$program" ] || { echo "not ok: $program is missing; build it first" >&2; exit 1; }
	done
}

suite=$(basename "$(dirname "$0")")
passed=0 failed=0 skipped=0 case_why=
settings= # in front of the command that runs a case alone, such as VARIABLE=VALUE

# A case that has failed, and how it is run alone.
not_ok() { # NAME TO PRINT, CASE, WHY
	failed=$((failed + 1))
	echo "not ok $1: $3"
	echo "# alone:${settings:+ env $settings} $0 $2"
}

# A case that is ended because of its time may have said what it waits for.
run_case() { # NAME TO PRINT, CASE [ARGUMENT]
	local printed=$1 status=0
	shift
	[ -n "$case_why" ] || { case_why=$(mktemp) && trap 'rm -f "$case_why"' EXIT; } || exit 1
	: >"$case_why"
	timeout -k 10 "$case_limit_s" "$0" --case "$case_why" "$@" || status=$?
	case $status in
	0) passed=$((passed + 1)); echo "ok $printed" ;;
	77) skipped=$((skipped + 1)); echo "skip $printed: $(cat "$case_why")" ;;
	124) not_ok "$printed" "$1" "not over after $case_limit_s s$(sed '1s/^/; it /' "$case_why")" ;;
	*) not_ok "$printed" "$1" "$(cat "$case_why")" ;;
	esac
}

all_cases() { sed -n 's/^case_\([A-Za-z0-9_]*\)().*/\1/p' "$0"; }

end_cases() {
	echo "$suite: $passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}

# Run the named cases, or all.
run_cases() { # [CASE...]
	local name
	for name in ${*:-$(all_cases)}; do run_case "$name" "$name"; done
	end_cases
}
