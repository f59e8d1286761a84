# SPDX-License-Identifier: BSD-2-Clause
# share.awk - of share.calls the functions that measure, in C: each is defined by its first name and calls its second
BEGIN { print "#include <mpi.h>\n\n#include \"apps/share.h\"" }
/^[A-Z]/ {
	name = $0
	sub(/\(.*/, "", name)
	types = substr($0, length(name) + 2, length($0) - length(name) - 2)
	count = split(types, type, ", ")
	parameters = arguments = ""
	for (i = 1; i <= count; i++) {
		comma = i > 1 ? ", " : ""
		parameters = parameters comma type[i] " a" i
		arguments = arguments comma "a" i
	}
	printf "\nint MPI_%s(%s)\n{\n\tdouble at;\n\tint rc;\n\n\tshare_enter(&at);\n", name, parameters
	printf "\trc = PMPI_%s(%s);\n\tshare_leave(at);\n\treturn rc;\n}\n", name, arguments
}
