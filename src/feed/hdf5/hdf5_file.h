#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

struct Hdf5Api;

/// Types of datasets: what numpy calls float16, float32, int16 and uint64, and texts of one fixed length.
enum class Hdf5Type { f16, f32, i16, u64, text, other };

/// A dataset as a file holds it.
struct Hdf5Dataset {
  Hdf5Type type = Hdf5Type::other;
  std::vector<std::int64_t> shape{};
  std::size_t element_bytes = 0;
  std::optional<std::int64_t> offset{};  ///< where its bytes begin in the file; none: they are not contiguous there

  std::int64_t count() const;
  /// "float16 [51434, 40, 2, 64, 1]".
  std::string text() const;
};

/// An HDF5 file, being written or read: datasets and text attributes at its root. One thread at a time in the process.
class Hdf5File {
 public:
  /// A new file, in place of what is there.
  static Result<Hdf5File> create(const std::filesystem::path& path);
  /// Fault::missing where there is none, Fault::corrupt where it is no HDF5.
  static Result<Hdf5File> open(const std::filesystem::path& path);
  Hdf5File(Hdf5File&& other) noexcept;
  ~Hdf5File();

  /// A contiguous dataset of `bytes`, without compression.
  Result<void> write(const std::string& name, Hdf5Type type, const std::vector<std::int64_t>& shape,
                     std::span<const std::byte> bytes);
  /// A contiguous dataset that is still to be filled: where its bytes begin in the file, once that is closed.
  Result<std::int64_t> reserve(const std::string& name, Hdf5Type type, const std::vector<std::int64_t>& shape);
  /// Texts as a dataset of one fixed length, in UTF-8.
  Result<void> write_texts(const std::string& name, const std::vector<std::string>& texts);
  /// A text attribute of the file, as h5py writes a str.
  Result<void> write_attribute(const std::string& name, const std::string& text);
  /// Ends the writing; the file is whole in the system's cache then.
  Result<void> close();

  bool has(const std::string& name) const;
  /// Fault::corrupt names the file and the dataset that is missing.
  Result<Hdf5Dataset> dataset(const std::string& name) const;
  /// Its bytes, converted to `type` of the same kind. Fault::corrupt where they cannot be read.
  Result<std::vector<std::byte>> read(const std::string& name, Hdf5Type type) const;
  /// Texts of fixed or variable length.
  Result<std::vector<std::string>> read_texts(const std::string& name) const;
  /// Fault::corrupt where the file has no such text.
  Result<std::string> attribute(const std::string& name) const;

 private:
  Hdf5File(const Hdf5Api& api, std::filesystem::path path, std::int64_t file)
      : api_(&api), path_(std::move(path)), file_(file) {}
  tl::unexpected<Error> damaged(const std::string& what) const;
  Result<std::int64_t> write_as(const std::string& name, std::int64_t type, const std::vector<std::int64_t>& shape,
                                const std::byte* bytes);

  const Hdf5Api* api_;
  std::filesystem::path path_;
  std::int64_t file_;  // the library's hid_t
};

}  // namespace tutti
