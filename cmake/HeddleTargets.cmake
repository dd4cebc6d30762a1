# SPDX-License-Identifier: Apache-2.0
# The build flags of every target, and one function for each kind of target.
include(GNUInstallDirs)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

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
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
        ENVIRONMENT "QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8" SKIP_RETURN_CODE 77)
endfunction()
