# SPDX-License-Identifier: Apache-2.0
# What an installed Heddle consists of; every path is found from the program's own location.
# The programs that a person or ssh starts; helpers that only a program starts are installed by their own folder.
foreach(program IN ITEMS heddle heddle-cli heddle-worker)
    if(TARGET ${program})
        install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
endforeach()
install(DIRECTORY core/python/heddle_oracle DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/python
    PATTERN "__pycache__" EXCLUDE PATTERN "tests" EXCLUDE)
install(FILES core/python/launch.py core/python/check_export.py core/python/bench_load_inline.py
    DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/python)
install(DIRECTORY resources/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/resources)
install(DIRECTORY core/schemas/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/schemas FILES_MATCHING PATTERN "*.json")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR})

include(HeddleTranslations)
include(HeddlePackage)
