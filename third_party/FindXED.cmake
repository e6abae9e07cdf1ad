# SPDX-License-Identifier: Apache-2.0
#
# Finds Intel XED, which installs neither a pkg-config nor a CMake file. Set XED_ROOT to where its
# include/ and lib/ are. Defines XED_FOUND and the target XED::XED.
find_path(XED_INCLUDE_DIR xed/xed-interface.h)
find_library(XED_LIBRARY xed)
mark_as_advanced(XED_INCLUDE_DIR XED_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XED REQUIRED_VARS XED_LIBRARY XED_INCLUDE_DIR)

if(XED_FOUND AND NOT TARGET XED::XED)
	add_library(XED::XED UNKNOWN IMPORTED)
	set_target_properties(XED::XED PROPERTIES IMPORTED_LOCATION ${XED_LIBRARY}
		INTERFACE_INCLUDE_DIRECTORIES ${XED_INCLUDE_DIR})
endif()
