# SPDX-License-Identifier: Apache-2.0
#
# Toolchain for the one of our two architectures that this machine is not: Debian's cross compiler, libraries in
# build/sysroot (tests/cross/sysroot.sh puts them there), and qemu-user to run what was built.
set(CMAKE_SYSTEM_NAME Linux)
if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
	set(CMAKE_SYSTEM_PROCESSOR aarch64)
else()
	set(CMAKE_SYSTEM_PROCESSOR x86_64)
endif()
set(CMAKE_C_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-gcc)

cmake_path(SET CMAKE_SYSROOT NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../build/sysroot")
if(NOT EXISTS ${CMAKE_SYSROOT}/.packages)
	message(FATAL_ERROR "there are no ${CMAKE_SYSTEM_PROCESSOR} libraries in build/sysroot: try ./bootstrap test --cross")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)

# Before the C library that may come with the compiler: it is another version, and Debian's static libm there names files
# that do not exist.
set(libraries_first "-B${CMAKE_SYSROOT}/usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
foreach(kind EXE SHARED MODULE)
	set(CMAKE_${kind}_LINKER_FLAGS_INIT "${libraries_first}")
endforeach()

# A machine of that architecture, real or emulated as a whole, has its loader and libraries where they belong.
if(CPPROF_CROSS_FOR_MACHINE)
	return()
endif()

# Programs name their loader and libraries there themselves: qemu's -L would show them the sysroot's root folder, not ours.
file(GLOB loader ${CMAKE_SYSROOT}/lib*/ld-linux-*.so.*)
set(CMAKE_EXE_LINKER_FLAGS_INIT "${libraries_first} -Wl,--dynamic-linker=${loader} -Wl,--disable-new-dtags -Wl,-rpath,${CMAKE_SYSROOT}/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu:${CMAKE_SYSROOT}/usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")

find_program(QEMU_USER NAMES qemu-${CMAKE_SYSTEM_PROCESSOR} qemu-${CMAKE_SYSTEM_PROCESSOR}-static)
if(NOT QEMU_USER)
	message(FATAL_ERROR "there is no qemu-${CMAKE_SYSTEM_PROCESSOR} to run tests with: try installing qemu-user")
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR ${QEMU_USER})
