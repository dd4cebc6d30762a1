# SPDX-License-Identifier: Apache-2.0
# The build flags of every target, and one function for each kind of target.
# Programs find their parts relative to themselves, so one layout serves every prefix.
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "Folder of libraries below the prefix")
include(GNUInstallDirs)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(HEDDLE_FUZZ "Build the fuzzers with libFuzzer (needs clang); off: they only replay their corpus" OFF)

# The Python with PyTorch that tests use. The environment variable wins, then what `./dev` made, then python3.
if(NOT HEDDLE_PYTHON AND DEFINED ENV{HEDDLE_PYTHON})
    set(HEDDLE_PYTHON "$ENV{HEDDLE_PYTHON}")
endif()
if(NOT HEDDLE_PYTHON)
    set(heddle_dev_home "$ENV{HEDDLE_DEV_HOME}")
    if(NOT heddle_dev_home AND DEFINED ENV{XDG_CACHE_HOME})
        set(heddle_dev_home "$ENV{XDG_CACHE_HOME}/heddle-dev")
    elseif(NOT heddle_dev_home)
        set(heddle_dev_home "$ENV{HOME}/.cache/heddle-dev")
    endif()
    if(EXISTS "${heddle_dev_home}/python/bin/python")
        set(HEDDLE_PYTHON "${heddle_dev_home}/python/bin/python")
    else()
        set(HEDDLE_PYTHON "python3")
    endif()
endif()
set(HEDDLE_PYTHON "${HEDDLE_PYTHON}" CACHE STRING "Python interpreter with PyTorch, for the tests")

add_library(heddle_build_flags INTERFACE)
target_compile_features(heddle_build_flags INTERFACE cxx_std_20)
target_include_directories(heddle_build_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(heddle_build_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wold-style-cast -Woverloaded-virtual -Wnon-virtual-dtor
    -Wcast-qual -Wundef $<$<BOOL:${HEDDLE_WERROR}>:-Werror>)
target_compile_definitions(heddle_build_flags INTERFACE HEDDLE_VERSION="${PROJECT_VERSION}")
if(HEDDLE_SANITIZE)
    string(REPLACE ";" "," heddle_sanitizers "${HEDDLE_SANITIZE}")
    target_compile_options(heddle_build_flags INTERFACE
        -fsanitize=${heddle_sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(heddle_build_flags INTERFACE -fsanitize=${heddle_sanitizers})
endif()

add_library(heddle_qt_flags INTERFACE)
target_compile_definitions(heddle_qt_flags INTERFACE
    QT_NO_CAST_FROM_ASCII QT_NO_CAST_TO_ASCII QT_NO_CAST_FROM_BYTEARRAY QT_NO_URL_CAST_FROM_STRING
    QT_NO_FOREACH QT_NO_NARROWING_CONVERSIONS_IN_CONNECT QT_USE_QSTRINGBUILDER
    QT_DISABLE_DEPRECATED_BEFORE=0x060400 QT_NO_CONTEXTLESS_CONNECT)

# heddle_add_library(core_plan SOURCES Plan.cpp … PUBLIC core_base PRIVATE core_json)
function(heddle_add_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC heddle_build_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    if(name MATCHES "^core_")
        target_compile_options(${name} PRIVATE -Wconversion)
    else()
        target_link_libraries(${name} PUBLIC heddle_qt_flags)
        set_target_properties(${name} PROPERTIES AUTOMOC ON)
    endif()
endfunction()

# heddle_add_program(heddle-worker SOURCES main.cpp LINK core_runtime)
# What is installed is listed in HeddleInstall.cmake.
function(heddle_add_program name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE heddle_build_flags ${ARG_LINK})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()

# heddle_add_test(PlanTest SOURCES PlanTest.cpp LINK core_plan LABELS unit [QT])
# GoogleTest by default; with QT a Qt Test program run offscreen.
function(heddle_add_test name)
    cmake_parse_arguments(ARG "QT" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE heddle_build_flags ${ARG_LINK})
    target_compile_definitions(${name} PRIVATE
        HEDDLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HEDDLE_BINARY_DIR="${PROJECT_BINARY_DIR}")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    if(ARG_QT)
        target_link_libraries(${name} PRIVATE Qt6::Test heddle_qt_flags)
        set_target_properties(${name} PROPERTIES AUTOMOC ON)
    else()
        target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
    endif()
    add_test(NAME ${name} COMMAND ${name})
    if(NOT ARG_LABELS)
        set(ARG_LABELS unit)
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    if(HEDDLE_SANITIZE)
        math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 4")
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
        ENVIRONMENT "QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8;HEDDLE_PYTHON=${HEDDLE_PYTHON}"
        SKIP_RETURN_CODE 77)
endfunction()

# heddle_add_python_test(OracleChannelTest PATHS core/python/tests/test_channel.py [LABELS python] [TIMEOUT 300])
# pytest on paths relative to the source root, run by the Python that has PyTorch; core/python is importable.
# No test collected is a failure (pytest's exit code 5).
function(heddle_add_python_test name)
    cmake_parse_arguments(ARG "" "TIMEOUT" "PATHS;LABELS;ENVIRONMENT" ${ARGN})
    if(NOT ARG_LABELS)
        set(ARG_LABELS python)
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 300)
    endif()
    add_test(NAME ${name}
        COMMAND "${HEDDLE_PYTHON}" -m pytest -q -rs -p no:cacheprovider ${ARG_PATHS}
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
        ENVIRONMENT "PYTHONPATH=${PROJECT_SOURCE_DIR}/core/python;PYTHONDONTWRITEBYTECODE=1;LC_ALL=C.UTF-8;HEDDLE_PYTHON=${HEDDLE_PYTHON};HEDDLE_SOURCE_DIR=${PROJECT_SOURCE_DIR};HEDDLE_BINARY_DIR=${PROJECT_BINARY_DIR};${ARG_ENVIRONMENT}")
endfunction()

# heddle_add_fuzzer(PlanFuzzer SOURCES PlanFuzzer.cpp LINK core_plan CORPUS corpus/plan)
# The source defines LLVMFuzzerTestOneInput. With HEDDLE_FUZZ it is a libFuzzer program in <build>/fuzz/, run by
# `./dev test --all`; without, a small main replays every file of the corpus as a unit test.
function(heddle_add_fuzzer name)
    cmake_parse_arguments(ARG "" "CORPUS" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE heddle_build_flags ${ARG_LINK})
    if(NOT TARGET fuzzers)
        add_custom_target(fuzzers)
    endif()
    add_dependencies(fuzzers ${name})
    set(corpus "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_CORPUS}")
    if(HEDDLE_FUZZ)
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        file(WRITE "${PROJECT_BINARY_DIR}/fuzz/${name}.corpus" "${corpus}\n")
    else()
        target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/ReplayCorpus.cpp")
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    endif()
    add_test(NAME ${name}
        COMMAND ${name} $<$<BOOL:${HEDDLE_FUZZ}>:-runs=0> "${corpus}")
    set_tests_properties(${name} PROPERTIES LABELS "unit;fuzz" TIMEOUT 120)
endfunction()

# The target `check-headers` compiles every header of every library and program alone, twice in one unit, with that
# target's own flags. It is not part of `all`; a test of label lint builds it.
function(heddle_add_header_checks)
    if(NOT HEDDLE_TESTS)
        return()
    endif()
    add_custom_target(check-headers)
    heddle_collect_targets("${PROJECT_SOURCE_DIR}" targets)
    foreach(target IN LISTS targets)
        get_target_property(kind ${target} TYPE)
        get_target_property(folder ${target} SOURCE_DIR)
        file(RELATIVE_PATH relative "${PROJECT_SOURCE_DIR}" "${folder}")
        if(NOT kind STREQUAL "STATIC_LIBRARY" OR NOT relative MATCHES "^(core|widgets|app)/")
            continue()
        endif()
        file(GLOB headers "${folder}/*.h")
        set(units "")
        foreach(header IN LISTS headers)
            file(RELATIVE_PATH include "${PROJECT_SOURCE_DIR}" "${header}")
            set(unit "${PROJECT_BINARY_DIR}/header-check/${include}.cpp")
            file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${include}\"\n#include \"${include}\"\n")
            list(APPEND units "${unit}")
        endforeach()
        if(units)
            add_library(${target}_headers OBJECT EXCLUDE_FROM_ALL ${units})
            target_link_libraries(${target}_headers PRIVATE ${target})
            set_target_properties(${target}_headers PROPERTIES AUTOMOC OFF)
            add_dependencies(check-headers ${target}_headers)
        endif()
    endforeach()
endfunction()

function(heddle_collect_targets folder result)
    get_property(found DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    get_property(children DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
    foreach(child IN LISTS children)
        heddle_collect_targets("${child}" below)
        list(APPEND found ${below})
    endforeach()
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL heddle_add_header_checks)
