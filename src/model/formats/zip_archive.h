#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A member of an archive. Both fields point into the archive's bytes.
struct ZipMember {
  std::string_view name{};
  std::span<const std::byte> data{};
};

/// The members of a zip archive whose members are stored, not compressed, as torch.save writes them: their bytes can be
/// used where they lie. Reads the central directory, zip64 included (APPNOTE.TXT 4.3); nothing is trusted. Thread-safe.
Result<std::vector<ZipMember>> list_stored_zip(std::span<const std::byte> file);

}  // namespace tutti
