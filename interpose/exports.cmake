# cmake -DTABLES=a.def;b.def -DMAP=FILE -P exports.cmake — the linker's list of exported symbols, from the tables of
# calls: the first quoted string of every row NAME_CALL...("symbol", ...).
set(symbols "")
foreach(table IN LISTS TABLES)
	file(READ ${table} text)
	string(REGEX MATCHALL "\n[A-Z_]*CALL[A-Z_]*\\([ \t\n]*\"[^\"]+\"" rows "${text}")
	foreach(row IN LISTS rows)
		string(REGEX REPLACE ".*\"([^\"]+)\"" "\\1" symbol "${row}")
		string(APPEND symbols "\t\t${symbol};\n")
	endforeach()
endforeach()
file(WRITE ${MAP} "{\n\tglobal:\n${symbols}\tlocal:\n\t\t*;\n};\n")
