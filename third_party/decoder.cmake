# SPDX-License-Identifier: Apache-2.0
#
# Which library decodes x86-64. Sets X86_DECODER to zydis or xed, X86_DECODER_TARGET to its target.
set(CPPROF_DECODER auto CACHE STRING "x86-64 decoder: zydis, xed, or auto (xed where it is installed, else zydis)")
set_property(CACHE CPPROF_DECODER PROPERTY STRINGS auto zydis xed)

if(NOT TARGET Zydis::Zydis)
	find_package(zydis CONFIG QUIET)
endif()
find_package(XED QUIET)

if(CPPROF_DECODER STREQUAL "auto" AND XED_FOUND OR CPPROF_DECODER STREQUAL "xed")
	set(X86_DECODER xed)
	set(X86_DECODER_TARGET XED::XED)
elseif(CPPROF_DECODER STREQUAL "auto" OR CPPROF_DECODER STREQUAL "zydis")
	set(X86_DECODER zydis)
	set(X86_DECODER_TARGET Zydis::Zydis)
else()
	message(FATAL_ERROR "CPPROF_DECODER is '${CPPROF_DECODER}', not auto, zydis or xed")
endif()
if(NOT TARGET ${X86_DECODER_TARGET})
	message(FATAL_ERROR "the x86-64 decoder ${X86_DECODER} is not installed: try libzydis-dev, or set XED_ROOT")
endif()
message(STATUS "x86-64 decoder: ${X86_DECODER}")
