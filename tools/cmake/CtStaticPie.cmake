# ct_static_pie(TARGET): link an executable so that it runs on any Linux of its architecture, libc included.
# A sanitizer's runtime is a shared matter, so sanitized builds stay dynamic.
function(ct_static_pie target)
	set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
	if(NOT CT_SANITIZE)
		target_link_options(${target} PRIVATE -static-pie)
	endif()
endfunction()
