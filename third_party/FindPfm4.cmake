# libpfm4: event names to perf_event encodings. It ships no pkg-config file.
#   Pfm4::Pfm4 - the library, if found
find_path(PFM4_INCLUDE_DIR perfmon/pfmlib_perf_event.h)
find_library(PFM4_LIBRARY pfm)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Pfm4 REQUIRED_VARS PFM4_LIBRARY PFM4_INCLUDE_DIR)
if(Pfm4_FOUND AND NOT TARGET Pfm4::Pfm4)
	add_library(Pfm4::Pfm4 UNKNOWN IMPORTED)
	set_target_properties(Pfm4::Pfm4 PROPERTIES IMPORTED_LOCATION ${PFM4_LIBRARY}
		INTERFACE_INCLUDE_DIRECTORIES ${PFM4_INCLUDE_DIR})
endif()
mark_as_advanced(PFM4_INCLUDE_DIR PFM4_LIBRARY)
