# The calls that refuse, in C, of refused.txt and of mpi.h as the preprocessor leaves it:
#
#     mpicc -E mpi.h | awk -f refused.awk refused.txt -
#
# Arguments are those of the prototype, whatever version of MPI it is of. In Fortran a call has an
# argument more, for the error, and one behind it for the length of each text.

# The reasons, and which calls they are for.
FNR == NR && (/^#/ || NF == 0) { next }
FNR == NR && /^[^ ]/ { sub(/:$/, ""); why = $0; next }
FNR == NR { for (i = 1; i <= NF; i++) reason[($i ~ /^MPIX_/ ? "" : "MPI_") $i] = why; next }

# The header, without the lines that say where it comes from.
!/^#/ { header = header " " $0 }

# Up to the parenthesis that closes what is open at the beginning.
function enclosed(text,    depth, i, sign) {
    depth = 1
    for (i = 1; i <= length(text); i++) {
        sign = substr(text, i, 1)
        depth += (sign == "(") - (sign == ")")
        if (depth == 0) return substr(text, 1, i - 1)
    }
    return text
}

function refuses(call, parameters,    count, each, i, name, names, texts, condition) {
    gsub(/ +/, " ", parameters)
    count = split(parameters, each, ",")
    for (i = 1; i <= count; i++) {
        texts += each[i] ~ /char *\*/
        name = each[i]
        gsub(/\[[^]]*\]/, "", name)
        match(name, /[A-Za-z_0-9]+ *$/)
        name = substr(name, RSTART)
        names = names (i > 1 ? ", " : "") name
    }
    # Of a program that never initialises MPI as a whole nothing rides yet.
    condition = call == "MPI_Session_init" ? "riding || is_clock_asked_for()" : "riding"
    printf "\nint %s(%s)\n{\n    if (%s)\n        refuse(\"%s\", \"%s\");\n", \
        call, parameters, condition, call, reason[call]
    printf "    return NEXT_OF(%s)(%s);\n}\n", call, names
    if (call ~ /^MPI_/) printf "REFUSED_IN_FORTRAN(%s, %d, %s, \"%s\")\n", tolower(substr(call, 5)), \
        count + 1 + texts, condition, reason[call]
}

END {
    print "/* Made by refused.awk of refused.txt and mpi.h. */"
    print "#include \"shim.h\"\n#include \"fortran.h\""
    count = split(header, statements, ";")
    for (i = 1; i <= count; i++) {
        statement = statements[i]
        if (!match(statement, /MPIX?_[A-Za-z_0-9]+ *\(/)) continue
        call = substr(statement, RSTART, RLENGTH - 1)
        sub(/ +$/, "", call)
        if (!(call in reason) || substr(statement, RSTART - 1, 1) !~ /[ *]/) continue
        refuses(call, enclosed(substr(statement, RSTART + RLENGTH)))
    }
}
