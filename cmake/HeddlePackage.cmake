# SPDX-License-Identifier: Apache-2.0
# The Debian package: `cmake --build build/release --target package`.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Heddle measures a PyTorch model, proposes faster kernels for it, and judges each
proposal honestly before a person accepts it. It exports what was accepted as plain PyTorch code.
PyTorch itself is not part of the package: HEDDLE_PYTHON names an interpreter that has torch 2.9 or later.")
set(CPACK_PACKAGE_CONTACT "Heddle maintainers <maintainers@heddle.invalid>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "bubblewrap, g++, python3 (>= 3.10)")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
