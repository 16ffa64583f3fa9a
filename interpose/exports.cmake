# cmake -DTABLES=a.def;b.def -DMAP=FILE -P exports.cmake — the linker's list of exported symbols, from the tables of
# calls. A row is NAME_CALL...("symbol", ...), or of mpi_calls.def, where a name stands for MPI_name and PMPI_name:
#	MPI_CALL_X(Name, lower, ...)   Name, Ilower, Name_init, and these with _c
#	MPI_CALL_X_C(Name, (...        Name and Name_c
#	MPI_CALL_X(Name, (...          Name
set(symbols "")

function(add_mpi)
	foreach(name IN LISTS ARGN)
		string(APPEND symbols "\t\tMPI_${name};\n\t\tPMPI_${name};\n")
	endforeach()
	set(symbols "${symbols}" PARENT_SCOPE)
endfunction()

foreach(table IN LISTS TABLES)
	file(READ ${table} text)
	string(REGEX MATCHALL "\n[A-Z_]*CALL[A-Z_]*\\([ \t\n]*\"[^\"]+\"" rows "${text}")
	foreach(row IN LISTS rows)
		string(REGEX REPLACE ".*\"([^\"]+)\"" "\\1" symbol "${row}")
		string(APPEND symbols "\t\t${symbol};\n")
	endforeach()
	string(REGEX MATCHALL "\nMPI_CALL[A-Z_]*\\([A-Z][A-Za-z_]*,[ \t\n]*[a-z_(]+" rows "${text}")
	foreach(row IN LISTS rows)
		string(REGEX MATCH "(MPI_CALL[A-Z_]*)\\(([A-Za-z_]+),[ \t\n]*([a-z_(]+)" row "${row}")
		set(kind ${CMAKE_MATCH_1})
		set(name ${CMAKE_MATCH_2})
		set(lower ${CMAKE_MATCH_3})
		if(NOT lower MATCHES "^\\(")
			add_mpi(${name} I${lower} ${name}_init ${name}_c I${lower}_c ${name}_init_c)
		elseif(kind MATCHES "_C$")
			add_mpi(${name} ${name}_c)
		else()
			add_mpi(${name})
		endif()
	endforeach()
endforeach()
file(WRITE ${MAP} "{\n\tglobal:\n${symbols}\tlocal:\n\t\t*;\n};\n")
