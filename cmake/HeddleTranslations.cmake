# SPDX-License-Identifier: Apache-2.0
# The target `translations` renews translations/*.ts from the window's sources; see translations/README.md.
find_program(HEDDLE_LUPDATE NAMES lupdate PATHS /usr/lib/qt6/bin NO_CACHE)
if(HEDDLE_GUI AND HEDDLE_LUPDATE)
    file(GLOB heddle_ts "${PROJECT_SOURCE_DIR}/translations/*.ts")
    add_custom_target(translations
        COMMAND "${HEDDLE_LUPDATE}" -silent -locations none -no-obsolete -recursive
            "${PROJECT_SOURCE_DIR}/app" "${PROJECT_SOURCE_DIR}/widgets" -ts ${heddle_ts}
        COMMAND "${HEDDLE_LUPDATE}" -silent -locations none -no-obsolete -recursive -pluralonly
            "${PROJECT_SOURCE_DIR}/app" "${PROJECT_SOURCE_DIR}/widgets" -ts "${PROJECT_SOURCE_DIR}/translations/heddle_en.ts"
        COMMENT "Collecting the window's texts" VERBATIM)
endif()
