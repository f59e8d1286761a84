#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# start.sh - oriel-soft: what it says of itself, of mistakes, and of what keeps softverbs away
set -u
cd "$(dirname "$0")/../.."
soft=$PWD/build/bin/oriel-soft status=0
mkdir -p build/test
wrong() {
	echo "not true: $1"
	status=1
}

# ends STATUS COMMAND...: what it says on stdout and stderr is in $out and $err
ends() {
	local want=$1 got
	shift
	out=$("$@" 2>build/tests/soft/start.err)
	got=$?
	err=$(cat build/tests/soft/start.err)
	[ "$got" -eq "$want" ] || wrong "'$*' ends with status $got, not $want"
}
says() { # text, what
	[[ $1 == *"$2"* ]] || wrong "'$2' is said; it was '$1'"
}

for option in --help -h; do
	ends 0 "$soft" $option
	says "$out" "usage: oriel-soft PROGRAM [ARGUMENT...]"
	says "$out" "LD_LIBRARY_PATH"
done
ends 2 "$soft"
says "$err" "usage: oriel-soft PROGRAM"
ends 2 "$soft" --
ends 2 "$soft" --nonsense
says "$err" "--nonsense"
ends 127 "$soft" build/no-such-program
ends 0 "$soft" env -- true
[ -z "$err" ] || wrong "nothing is said about a program that runs; it was '$err'"
ends 0 "$soft" -- sh -c 'echo "$LD_LIBRARY_PATH"'
says "$out" "build/lib/soft"

# The library of the system, loaded first under the same name, is the one that the program gets.
system=$(ldconfig -p | sed -n 's/.*libibverbs\.so\.1 .*=> //p' | head -n 1)
if [ -n "$system" ]; then
	ends 0 env LD_PRELOAD="$system" "$soft" true
	says "$err" "LD_PRELOAD"
	says "$err" "$system"
	ends 0 env LD_PRELOAD="$PWD/build/lib/soft/libibverbs.so.1" "$soft" true
	[ -z "$err" ] || wrong "softverbs itself may be preloaded; it was '$err'"
fi

# The library that shows the device's files is preloaded behind what is preloaded already.
ends 0 "$soft" sh -c 'test -c /dev/infiniband/uverbs0 && echo "$LD_PRELOAD"'
says "$out" "$PWD/build/lib/soft/libsoftnodes.so"
ends 0 env LD_PRELOAD="$PWD/build/lib/soft/libibverbs.so.1" "$soft" sh -c 'echo "$LD_PRELOAD"'
says "$out" "libibverbs.so.1:$PWD/build/lib/soft/libsoftnodes.so"

# A program with gcc's AddressSanitizer, which looks at what comes before it, runs, and finds what it looks for.
printf '%s\n' '#include <stdlib.h>' '#include <string.h>' '#include <unistd.h>' 'int main(int argc, char **argv)' \
	'{ char *p = malloc(8); free(p); if (argc > 1) p[0] = argv[0][0]; return access("/dev/infiniband/uverbs0", F_OK); }' \
	>build/test/checked.c
if gcc -w -O0 -fsanitize=address -o build/test/checked build/test/checked.c 2>/dev/null; then
	ends 0 "$soft" build/test/checked
	ends 1 "$soft" build/test/checked wrong
	says "$err" heap-use-after-free
fi

# If that is missing the program runs without it, and one line says so.
bare=build/test/bare
rm -rf $bare && mkdir -p $bare/bin $bare/lib/soft && cp "$soft" $bare/bin && cp build/lib/soft/lib*.so.1 $bare/lib/soft
ends 0 $bare/bin/oriel-soft true
says "$err" "lacks libsoftnodes.so or nodes"
[ "$(wc -l <<<"$err")" -eq 1 ] || wrong "it is one line; it was '$err'"
rm -rf $bare
exit $status
