#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/owned.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_models.h"

namespace tutti {

/// The fetched tiny.en as a Hugging Face folder in the build folder, converted by whichever test comes first.
inline std::filesystem::path converted_real_model() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(TUTTI_BINARY_DIR) / "test-models", converted = folder / "tiny.en";
  fs::create_directories(folder);
  const OwnedFd lock(::open((folder / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (::flock(lock.get(), LOCK_EX) != 0) throw std::runtime_error("cannot lock " + folder.string());
  if (fs::exists(converted)) return converted;
  const fs::path half = folder / "half";
  fs::remove_all(half);
  const auto end = run_program({tutti_program(), "convert", real_model(), "-o", half, "--type", "float16"});
  if (end.exit_code != 0) throw std::runtime_error("tutti convert: " + end.err);
  fs::rename(half, converted);
  return converted;
}

/// A tiny.en as a Hugging Face folder: the shared one, else the fetched one. Behind TUTTI_NEEDS_TINY_MODEL().
inline std::string hugging_face_model() {
  return has_shared_tiny_model() ? shared_tiny_model() : converted_real_model();
}

/// That model in a form of other programs, made by tools/stored_models.py in `folder`.
inline std::string stored_as(const std::string& kind, const std::string& name, const TempFolder& folder) {
  const std::string path = (folder / name).string();
  const ProgramEnd end = run_program({"/usr/bin/python3", std::string(TUTTI_SOURCE_DIR) + "/tools/stored_models.py",
                                      kind, hugging_face_model(), path});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  return path;
}

}  // namespace tutti
