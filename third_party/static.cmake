# SPDX-License-Identifier: Apache-2.0
#
# CPPROF_STATIC: one file that runs on any Linux, with or without libraries. Debian's own static libraries are linked;
# Zydis and cJSON have none and are compiled from Debian's sources (packaging/sources.sh fetches them). Nothing is
# loaded at run time, as a static program has no loader: debuginfod is asked by its command, libdwarf and libdw not at all.
set(CPPROF_STATIC_SOURCES "" CACHE PATH "Folder with the unpacked sources of Zydis and cJSON, for CPPROF_STATIC")
set(CPPROF_LIBDWARF OFF)
set(CPPROF_LIBDW OFF)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_link_options(-static-pie)

# The same bytes, wherever the sources are.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
add_link_options(-Wl,--build-id=sha1)

function(cpprof_static_source name file ret_folder)
	file(GLOB found ${CPPROF_STATIC_SOURCES}/${name}-*/${file})
	list(LENGTH found n)
	if(NOT n EQUAL 1)
		message(FATAL_ERROR "the sources of ${name} are not in '${CPPROF_STATIC_SOURCES}': try ./bootstrap package")
	endif()
	string(REGEX REPLACE "/${file}$" "" folder ${found})
	set(${ret_folder} ${folder} PARENT_SCOPE)
endfunction()

cpprof_static_source(zydis include/Zydis/Zydis.h folder)
file(GLOB sources ${folder}/src/*.c)
add_library(zydis_static STATIC ${sources})
target_include_directories(zydis_static SYSTEM PUBLIC ${folder}/include PRIVATE ${folder}/src)
target_compile_definitions(zydis_static PUBLIC ZYDIS_STATIC_BUILD)
target_compile_options(zydis_static PRIVATE -w -ffile-prefix-map=${folder}=zydis)
add_library(Zydis::Zydis ALIAS zydis_static)

cpprof_static_source(cjson cJSON.h folder)
file(COPY ${folder}/cJSON.h DESTINATION ${CMAKE_BINARY_DIR}/include/cjson)
add_library(cjson_static STATIC ${folder}/cJSON.c)
target_include_directories(cjson_static SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/include)
target_compile_options(cjson_static PRIVATE -w -ffile-prefix-map=${folder}=cjson)
add_library(PkgConfig::CJSON ALIAS cjson_static)

