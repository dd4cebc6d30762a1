# SPDX-License-Identifier: Apache-2.0
# What an installed Heddle consists of; every path is found from the program's own location.
install(DIRECTORY core/python/heddle_oracle DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/python
    PATTERN "__pycache__" EXCLUDE PATTERN "tests" EXCLUDE)
install(DIRECTORY resources/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/resources)
install(DIRECTORY core/schemas/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/schemas FILES_MATCHING PATTERN "*.json")
