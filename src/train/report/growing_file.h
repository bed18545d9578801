#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

/// A record of something that goes on: a file that is only added to. One thread.
class GrowingFile {
 public:
  /// Opens `path`, made when missing, behind what is there.
  static Result<GrowingFile> open(const std::filesystem::path& path);

  /// What goes on is worth more than its record: what cannot be written is logged, once.
  void add(std::string_view bytes);

 private:
  GrowingFile(OwnedFd file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

  OwnedFd file_;
  std::string name_;
  bool complained_ = false;
};

}  // namespace tutti
