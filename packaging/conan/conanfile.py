# SPDX-License-Identifier: Apache-2.0
# Conan 2 recipe for the tree that it lies in: conan create packaging/conan
# Tested (packaging/check) with the libraries below taken from the system by platform_requires: shared, by a program that
# uses it; static, packed only. Not tested with Conan Center's own packages of them, for the server was out of reach.
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rm, rmdir


class Pinfold(ConanFile):
    name = "pinfold"
    license = "Apache-2.0"
    description = "ImageFolder data sets as batches equal to torchvision's"
    topics = ("dataset", "imagefolder", "torchvision", "preprocessing")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "with_tiff": [True, False], "with_webp": [True, False]}
    default_options = {"shared": True, "fPIC": True, "with_tiff": True, "with_webp": True}
    languages = "C"
    implements = ["auto_shared_fpic"]

    def set_version(self):
        cmake = load(self, os.path.join(self.recipe_folder, "../../CMakeLists.txt"))
        self.version = re.search(r"project\(pinfold VERSION ([0-9.]+)", cmake)[1]

    def export_sources(self):
        top = os.path.join(self.recipe_folder, "../..")
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "cmake/*", "completions/*",
                        "datasets/*", "docs/*", "examples/*", "include/*", "man/*", "src/*", "transforms/*"):
            copy(self, pattern, top, self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("pinfold is tested on Linux only")

    def requirements(self):
        self.requires("libjpeg-turbo/[>=2.0.3 <4]")
        self.requires("zlib/[>=1.2.11 <2]")
        if self.options.with_tiff:
            self.requires("libtiff/[>=4.5 <5]")
        if self.options.with_webp:
            self.requires("libwebp/[>=1.2 <2]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["PINFOLD_CUDA"] = "off"
        toolchain.cache_variables["PINFOLD_MAN"] = "off"
        toolchain.cache_variables["PINFOLD_TIFF"] = "on" if self.options.with_tiff else "off"
        toolchain.cache_variables["PINFOLD_WEBP"] = "on" if self.options.with_webp else "off"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan writes its own of these, for the one of the two libraries that was asked for.
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, os.path.join(self.package_folder, folder))
        if self.options.shared:
            rm(self, "*.a", os.path.join(self.package_folder, "lib"))
        else:
            # The program was linked with the shared library.
            rm(self, "*.so*", os.path.join(self.package_folder, "lib"))
            rmdir(self, os.path.join(self.package_folder, "bin"))

    def package_info(self):
        self.cpp_info.libs = ["pinfold"]
        self.cpp_info.set_property("cmake_file_name", "pinfold")
        self.cpp_info.set_property("cmake_target_name", "pinfold::pinfold")
        self.cpp_info.set_property("pkg_config_name", "pinfold")
        if not self.options.shared:
            self.cpp_info.system_libs = ["m", "pthread"]
