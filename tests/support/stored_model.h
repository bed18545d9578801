#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

namespace tutti {

inline std::string shared_model() {
  return (test_data() / "whisper-tiny.en").string();
}

/// The shared model in a form of other programs, made by tools/stored_models.py in `folder`.
inline std::string stored_as(const std::string& kind, const std::string& name, const TempFolder& folder) {
  const std::string path = (folder / name).string();
  const ProgramEnd end = run_program(
      {"/usr/bin/python3", std::string(TUTTI_SOURCE_DIR) + "/tools/stored_models.py", kind, shared_model(), path});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  return path;
}

}  // namespace tutti
