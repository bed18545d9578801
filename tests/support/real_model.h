#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files.h"

namespace tutti {

/// OpenAI's complete tiny.en, a CTranslate2 folder in float16, where tools/fetch_model.py puts it. Taken from the
/// environment that the test program was started with, so a test may point TUTTI_CACHE elsewhere.
inline const std::filesystem::path kRealModel = cache_folder() / "fetched" / "openai--whisper-tiny.en";

/// Its folder, whether it is there or not. Hand it to --model or find_model() as a path.
inline std::filesystem::path real_model() {
  return kRealModel;
}

/// Why the model cannot be used, as the reason of a skip; empty where it can. The reason begins with "another download"
/// only where set-up tried to fetch the model and could not: tools/run_tests.py allows that skip everywhere.
inline std::string real_model_absence() {
  if (std::filesystem::exists(kRealModel / "model.bin")) return {};  // the folder comes with one rename, whole
  const auto refusal = read_regular_file(kRealModel.string() + ".unavailable");
  if (!refusal) return "needs the real tiny.en: run tools/fetch_model.py (expected in " + kRealModel.string() + ")";
  return "another download: set-up could not fetch the real tiny.en: " + refusal->substr(0, refusal->find('\n'));
}

}  // namespace tutti

/// Skips the test, by name, where the real tiny.en is absent.
#define TUTTI_NEEDS_REAL_MODEL() \
  if (const auto absence = tutti::real_model_absence(); !absence.empty()) GTEST_SKIP() << absence
