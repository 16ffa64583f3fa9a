# What Gloo's ranks move, counted by somebody else behind the tracer.
ct_program(list_traffic SOURCES list_traffic.c evidence.c LIBS ct_analyzer)
add_library(gloo_shim SHARED gloo_shim.c)
target_link_libraries(gloo_shim PRIVATE ct_flags ${CMAKE_DL_LIBS})
set_target_properties(gloo_shim PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
ct_script_test(NAME interpose.gloo_traffic COMMAND gloo_traffic.sh TIMEOUT 120 ENV CT_GLOO_JOB=$<TARGET_FILE:gloo_job>)
