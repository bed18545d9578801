#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/openai/api_error.h"

namespace tutti {

/// What clients may call a model that is loaded: its name or path as it was given, its folder's or file's name, the
/// repository that a name such as "openai--whisper-tiny.en" means, and OpenAI's. The first is its own.
/// Thread-safe.
class ModelNames {
 public:
  /// `given`: as --model has it; `found`: where it is; `more`: other names that clients know; `openai`: the last.
  ModelNames(std::string given, const std::filesystem::path& found, const std::vector<std::string>& more = {},
             const std::string& openai = "whisper-1");

  bool contains(std::string_view name) const;
  const std::string& own() const { return names_.front(); }
  const std::vector<std::string>& all() const { return names_; }

  /// 404 for a name that is none of them.
  ApiError missing(std::string_view name) const;

  /// The answer to GET /v1/models of a server that has these.
  static std::string list_json(std::span<const ModelNames* const> loaded);
  /// The answer to GET /v1/models/NAME.
  std::string model_json(std::string_view name) const;

 private:
  std::vector<std::string> names_{};
  std::int64_t loaded_ = 0;  // Unix seconds
};

}  // namespace tutti
