#include "feed/hdf5/hdf5_file.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/hdf5/hdf5_api.h"

namespace tutti {
namespace {

constexpr hid_t kDefault = H5P_DEFAULT;
// H5F_ACC_RDONLY and H5F_ACC_TRUNC: the header's macros call the library, which is not linked.
constexpr unsigned kReadOnly = 0, kTruncate = 2;

/// An id of the library, closed by `close`.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// IEEE half precision, little-endian, as numpy's float16 is stored; the caller closes it.
hid_t half_type(const Hdf5Api& api) {
  const hid_t type = api.H5Tcopy(api.ieee_f32le);
  api.H5Tset_fields(type, 15, 10, 5, 0, 10);
  api.H5Tset_size(type, 2);
  api.H5Tset_ebias(type, 15);
  return type;
}

/// A copy of the library's type; the caller closes it.
hid_t stored_type(const Hdf5Api& api, Hdf5Type type) {
  switch (type) {
    case Hdf5Type::f16: return half_type(api);
    case Hdf5Type::f32: return api.H5Tcopy(api.ieee_f32le);
    case Hdf5Type::i16: return api.H5Tcopy(api.std_i16le);
    case Hdf5Type::u64: return api.H5Tcopy(api.std_u64le);
    default: return -1;
  }
}

hid_t text_type(const Hdf5Api& api, std::size_t size) {
  const hid_t type = api.H5Tcopy(api.c_s1);
  api.H5Tset_size(type, size);
  api.H5Tset_cset(type, H5T_CSET_UTF8);
  if (size != H5T_VARIABLE) api.H5Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

Hdf5Type type_of(const Hdf5Api& api, hid_t stored) {
  if (api.H5Tget_class(stored) == H5T_STRING) return Hdf5Type::text;
  for (const auto type : {Hdf5Type::f16, Hdf5Type::f32, Hdf5Type::i16, Hdf5Type::u64}) {
    const Id same(stored_type(api, type), api.H5Tclose);
    if (api.H5Tequal(stored, same) > 0) return type;
  }
  return Hdf5Type::other;
}

std::vector<std::int64_t> shape_of(const Hdf5Api& api, hid_t space) {
  const int count = std::max(0, api.H5Sget_simple_extent_ndims(space));
  std::vector<hsize_t> sizes(static_cast<std::size_t>(count) + 1);
  api.H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  return {sizes.begin(), sizes.begin() + count};
}

std::string without_padding(const char* text, std::size_t size) {
  std::string all(text, size);
  return all.substr(0, std::min(all.find('\0'), all.size()));
}

/// How texts are read from an attribute or a dataset: by their type in memory.
struct TextReading {
  hid_t type;
  bool is_variable;
  std::size_t bytes;
  std::size_t count;

  template <class Read, class Reclaim>
  Result<std::vector<std::string>> run(Read read, Reclaim reclaim) const {
    std::vector<std::string> texts;
    if (is_variable) {
      std::vector<char*> pointers(count);
      if (read(pointers.data()) < 0) return fail(Fault::corrupt, "cannot be read");
      for (const char* text : pointers) texts.emplace_back(text ? text : "");
      reclaim(pointers.data());
      return texts;
    }
    std::vector<char> buffer(bytes * count);
    if (read(buffer.data()) < 0) return fail(Fault::corrupt, "cannot be read");
    for (std::size_t i = 0; i < count; ++i) texts.push_back(without_padding(buffer.data() + i * bytes, bytes));
    return texts;
  }
};

}  // namespace

std::int64_t Hdf5Dataset::count() const {
  std::int64_t all = 1;
  for (const auto size : shape) all *= size;
  return all;
}

std::string Hdf5Dataset::text() const {
  constexpr const char* kNames[] = {"float16", "float32", "int16", "uint64", "text", "another type"};
  std::vector<std::string> sizes;
  for (const auto size : shape) sizes.push_back(std::to_string(size));
  return std::string(kNames[static_cast<int>(type)]) + " [" + joined(sizes, ", ") + "]";
}

Result<Hdf5File> Hdf5File::create(const std::filesystem::path& path) {
  const auto api = TRY(Hdf5Api::load());
  const hid_t file = api->H5Fcreate(path.c_str(), kTruncate, kDefault, kDefault);
  if (file < 0) return fail(Fault::unavailable, path.string() + ": could not be created");
  return Hdf5File(*api, path, file);
}

Result<Hdf5File> Hdf5File::open(const std::filesystem::path& path) {
  if (!is_there(path)) return fail(Fault::missing, path.string() + ": no such file");
  const auto api = TRY(Hdf5Api::load());
  const hid_t file = api->H5Fopen(path.c_str(), kReadOnly, kDefault);
  if (file < 0) return fail(Fault::corrupt, path.string() + ": expected an HDF5 file; it is none, or damaged");
  return Hdf5File(*api, path, file);
}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : api_(other.api_), path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

Hdf5File::~Hdf5File() {
  if (file_ >= 0) api_->H5Fclose(file_);
}

tl::unexpected<Error> Hdf5File::damaged(const std::string& what) const {
  return fail(Fault::corrupt, path_.string() + ": " + what);
}

/// Returns the dataset's offset in the file. `bytes`: null: none are written.
Result<std::int64_t> Hdf5File::write_as(const std::string& name, hid_t type, const std::vector<std::int64_t>& shape,
                                        const std::byte* bytes) {
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  const Id space(api_->H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), api_->H5Sclose);
  const Id plan(api_->H5Pcreate(api_->dataset_create), api_->H5Pclose);
  api_->H5Pset_alloc_time(plan, H5D_ALLOC_TIME_EARLY);  // it has an offset even where it is empty
  api_->H5Pset_fill_time(plan, H5D_FILL_TIME_NEVER);
  const Id dataset(api_->H5Dcreate2(file_, name.c_str(), type, space, kDefault, plan, kDefault), api_->H5Dclose);
  if (dataset < 0) return damaged("dataset '" + name + "' could not be created");
  const bool is_empty = std::ranges::find(shape, 0) != shape.end();
  if (bytes && !is_empty && api_->H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, kDefault, bytes) < 0)
    return fail(Fault::full, path_.string() + ": dataset '" + name + "' could not be written",
                "See that its disk has space");
  const haddr_t offset = api_->H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF && !is_empty) return damaged("dataset '" + name + "' has no place in the file");
  return is_empty ? 0 : static_cast<std::int64_t>(offset);
}

Result<std::int64_t> Hdf5File::reserve(const std::string& name, Hdf5Type type, const std::vector<std::int64_t>& shape) {
  const Id stored(stored_type(*api_, type), api_->H5Tclose);
  return write_as(name, stored, shape, nullptr);
}

Result<void> Hdf5File::write(const std::string& name, Hdf5Type type, const std::vector<std::int64_t>& shape,
                             std::span<const std::byte> bytes) {
  const Id stored(stored_type(*api_, type), api_->H5Tclose);
  return write_as(name, stored, shape, bytes.data()).map([](std::int64_t) {});
}

Result<void> Hdf5File::write_texts(const std::string& name, const std::vector<std::string>& texts) {
  constexpr std::size_t kAligned = 8;  // what is stored behind them begins at a multiple of it
  std::size_t longest = 1;
  for (const auto& text : texts) longest = std::max(longest, text.size());
  longest = (longest + kAligned - 1) / kAligned * kAligned;
  std::vector<std::byte> bytes(longest * texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::ranges::copy(std::as_bytes(std::span(texts[i])), bytes.begin() + static_cast<std::ptrdiff_t>(i * longest));
  const Id stored(text_type(*api_, longest), api_->H5Tclose);
  return write_as(name, stored, {std::ssize(texts)}, bytes.data()).map([](std::int64_t) {});
}

Result<void> Hdf5File::write_attribute(const std::string& name, const std::string& text) {
  const Id type(text_type(*api_, H5T_VARIABLE), api_->H5Tclose);
  const Id space(api_->H5Screate(H5S_SCALAR), api_->H5Sclose);
  const Id attribute(api_->H5Acreate2(file_, name.c_str(), type, space, kDefault, kDefault), api_->H5Aclose);
  const char* pointer = text.c_str();
  if (attribute < 0 || api_->H5Awrite(attribute, type, &pointer) < 0)
    return damaged("attribute '" + name + "' could not be written");
  return {};
}

Result<void> Hdf5File::close() {
  const hid_t file = std::exchange(file_, -1);
  if (file >= 0 && api_->H5Fclose(file) < 0)
    return fail(Fault::full, path_.string() + ": could not be written to its end", "See that its disk has space");
  return {};
}

bool Hdf5File::has(const std::string& name) const {
  return api_->H5Lexists(file_, name.c_str(), kDefault) > 0;
}

Result<Hdf5Dataset> Hdf5File::dataset(const std::string& name) const {
  if (!has(name)) return damaged("expected a dataset '" + name + "', it has none");
  const Id dataset(api_->H5Dopen2(file_, name.c_str(), kDefault), api_->H5Dclose);
  if (dataset < 0) return damaged("dataset '" + name + "' cannot be opened");
  const Id space(api_->H5Dget_space(dataset), api_->H5Sclose), type(api_->H5Dget_type(dataset), api_->H5Tclose);
  Hdf5Dataset found{
      .type = type_of(*api_, type), .shape = shape_of(*api_, space), .element_bytes = api_->H5Tget_size(type)};
  if (const haddr_t offset = api_->H5Dget_offset(dataset); offset != HADDR_UNDEF)
    found.offset = static_cast<std::int64_t>(offset);
  return found;
}

Result<std::vector<std::byte>> Hdf5File::read(const std::string& name, Hdf5Type type) const {
  const auto facts = TRY(dataset(name));
  const Id stored(stored_type(*api_, type), api_->H5Tclose);
  std::vector<std::byte> bytes(static_cast<std::size_t>(facts.count()) * api_->H5Tget_size(stored));
  const Id dataset(api_->H5Dopen2(file_, name.c_str(), kDefault), api_->H5Dclose);
  if (!bytes.empty() && api_->H5Dread(dataset, stored, H5S_ALL, H5S_ALL, kDefault, bytes.data()) < 0)
    return damaged("dataset '" + name + "' (" + facts.text() + ") cannot be read");
  return bytes;
}

Result<std::vector<std::string>> Hdf5File::read_texts(const std::string& name) const {
  const auto facts = TRY(dataset(name));
  if (facts.type != Hdf5Type::text) return damaged("dataset '" + name + "': expected texts, found " + facts.text());
  const Id dataset(api_->H5Dopen2(file_, name.c_str(), kDefault), api_->H5Dclose);
  const Id type(api_->H5Dget_type(dataset), api_->H5Tclose), space(api_->H5Dget_space(dataset), api_->H5Sclose);
  const TextReading reading{type, api_->H5Tis_variable_str(type) > 0, facts.element_bytes,
                            static_cast<std::size_t>(facts.count())};
  auto texts = reading.run([&](void* into) { return api_->H5Dread(dataset, type, H5S_ALL, H5S_ALL, kDefault, into); },
                           [&](void* from) { api_->H5Dvlen_reclaim(type, space, kDefault, from); });
  if (!texts) return damaged("dataset '" + name + "' " + texts.error().what);
  return texts;
}

Result<std::string> Hdf5File::attribute(const std::string& name) const {
  if (api_->H5Aexists(file_, name.c_str()) <= 0) return damaged("expected an attribute '" + name + "', it has none");
  const Id attribute(api_->H5Aopen(file_, name.c_str(), kDefault), api_->H5Aclose);
  const Id type(api_->H5Aget_type(attribute), api_->H5Tclose), space(api_->H5Aget_space(attribute), api_->H5Sclose);
  if (api_->H5Tget_class(type) != H5T_STRING) return damaged("attribute '" + name + "': expected a text");
  const TextReading reading{type, api_->H5Tis_variable_str(type) > 0, api_->H5Tget_size(type), 1};
  auto texts = reading.run([&](void* into) { return api_->H5Aread(attribute, type, into); },
                           [&](void* from) { api_->H5Dvlen_reclaim(type, space, kDefault, from); });
  if (!texts) return damaged("attribute '" + name + "' " + texts.error().what);
  return texts->front();
}

}  // namespace tutti
