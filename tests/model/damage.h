#pragma once

#include <cstring>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "model/golden.h"
#include "support/temp_folder.h"

namespace tutti {

inline std::string content_of(const std::filesystem::path& path) {
  auto text = read_file(path);
  if (!text) throw std::runtime_error(text.error().text());
  return *text;
}

/// A safetensors file of this header and data.
inline std::string safetensors_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + data;
}

/// A safetensors file taken apart, to be damaged and put together again.
struct Parts {
  nlohmann::json header{};
  std::string data{};

  static Parts of(const std::string& file) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof length);
    const auto split = sizeof length + static_cast<std::size_t>(length);
    return {nlohmann::json::parse(file.substr(sizeof length, split - sizeof length)), file.substr(split)};
  }
  std::string whole() const { return safetensors_of(header.dump(), data); }
};

/// A model folder in the making.
inline void put(const std::filesystem::path& path, const std::string& content) {
  if (const auto written = write_file_atomically(path, content); !written) {
    throw std::runtime_error(written.error().text());
  }
}

/// `file` with the first `from` replaced by `to`, of the same length.
inline std::string replaced(std::string file, std::string_view from, std::string_view to) {
  const auto at = file.find(from);
  if (at == std::string::npos || from.size() != to.size()) throw std::runtime_error("nothing to replace");
  return file.replace(at, from.size(), to);
}

/// The random golden model's files.
inline std::string random_config() {
  return content_of(golden_folder() / "random/config.json");
}
inline std::string random_weights_file() {
  return content_of(golden_folder() / "random/model.safetensors");
}

}  // namespace tutti
