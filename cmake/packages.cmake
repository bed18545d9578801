# Libraries from outside, all from Debian (tools/setup.sh installs them; THIRD_PARTY.md says what each is for).
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)

# Header-only, and without a CMake package in Debian 12.
add_library(tomlplusplus::tomlplusplus INTERFACE IMPORTED)

add_library(tutti_sndfile INTERFACE)
pkg_check_modules(SNDFILE REQUIRED IMPORTED_TARGET sndfile)
target_link_libraries(tutti_sndfile INTERFACE PkgConfig::SNDFILE)

# utf8proc is linked statically: below the torch line nothing but libtorch may be needed at run time.
find_library(UTF8PROC_STATIC libutf8proc.a REQUIRED)
add_library(tutti_utf8proc INTERFACE)
target_link_libraries(tutti_utf8proc INTERFACE ${UTF8PROC_STATIC})

# Static, too: only "tutti train tts --import" reads YAML.
find_path(YAML_CPP_INCLUDE_DIR yaml-cpp/yaml.h REQUIRED)
find_library(YAML_CPP_STATIC libyaml-cpp.a REQUIRED)
add_library(tutti_yaml_cpp INTERFACE)
target_include_directories(tutti_yaml_cpp SYSTEM INTERFACE ${YAML_CPP_INCLUDE_DIR})
target_link_libraries(tutti_yaml_cpp INTERFACE ${YAML_CPP_STATIC})

# Only "tutti profile --import" reads large JSON.
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson)
add_library(tutti_simdjson INTERFACE)
target_link_libraries(tutti_simdjson INTERFACE PkgConfig::SIMDJSON)

# Loaded with dlopen on first use, each behind one .cpp: only the headers are needed here.
pkg_check_modules(FFMPEG REQUIRED libavformat libavcodec libavutil libswresample)
add_library(tutti_ffmpeg_headers INTERFACE)
target_include_directories(tutti_ffmpeg_headers SYSTEM INTERFACE ${FFMPEG_INCLUDE_DIRS})
find_path(POSTGRES_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)
add_library(tutti_postgres_headers INTERFACE)
target_include_directories(tutti_postgres_headers SYSTEM INTERFACE ${POSTGRES_INCLUDE_DIR})
# TLS of src/serve.
find_package(OpenSSL REQUIRED)
# Header-only as it is used here, and seen by two .cpp of src/serve.
find_path(BEAST_INCLUDE_DIR boost/beast.hpp REQUIRED)
add_library(tutti_beast INTERFACE)
target_include_directories(tutti_beast SYSTEM INTERFACE ${BEAST_INCLUDE_DIR})
find_path(CURL_INCLUDE_DIR curl/curl.h REQUIRED)
add_library(tutti_curl_headers INTERFACE)
target_include_directories(tutti_curl_headers SYSTEM INTERFACE ${CURL_INCLUDE_DIR})
find_path(HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
add_library(tutti_hdf5_headers INTERFACE)
target_include_directories(tutti_hdf5_headers SYSTEM INTERFACE ${HDF5_INCLUDE_DIR})
find_path(FLITE_INCLUDE_DIR flite/flite.h REQUIRED)
add_library(tutti_flite_headers INTERFACE)
target_include_directories(tutti_flite_headers SYSTEM INTERFACE ${FLITE_INCLUDE_DIR})
