#include "feed/hdf5/hdf5_api.h"

#include <dlfcn.h>

#include <string>

#include "base/library_call.h"

namespace tutti {
namespace {

constexpr const char* kLibrary = "libhdf5_serial.so.103";  // Debian's name for the serial build of 1.10

/// Binds names of the library; remembers the first that is missing.
class Binder {
 public:
  explicit Binder(void* library) : library_(library) {}

  template <class Function>
  void operator()(Function*& slot, const char* name) {
    if (!look_up(library_, name, slot) && missing_.empty()) missing_ = name;
  }
  /// The value of a variable that the header's macros name.
  hid_t id(const char* name) {
    const auto* found = static_cast<const hid_t*>(::dlsym(library_, name));
    if (!found && missing_.empty()) missing_ = name;
    return found ? *found : -1;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_{};
};

#define TUTTI_BIND(name) bind(api.name, #name)

void bind_files(Binder& bind, Hdf5Api& api) {
  TUTTI_BIND(H5open);
  TUTTI_BIND(H5Eset_auto2);
  TUTTI_BIND(H5Fcreate);
  TUTTI_BIND(H5Fopen);
  TUTTI_BIND(H5Fclose);
  TUTTI_BIND(H5Screate);
  TUTTI_BIND(H5Screate_simple);
  TUTTI_BIND(H5Sclose);
  TUTTI_BIND(H5Sget_simple_extent_ndims);
  TUTTI_BIND(H5Sget_simple_extent_dims);
  TUTTI_BIND(H5Lexists);
  TUTTI_BIND(H5Pcreate);
  TUTTI_BIND(H5Pset_alloc_time);
  TUTTI_BIND(H5Pset_fill_time);
  TUTTI_BIND(H5Pclose);
}

void bind_types(Binder& bind, Hdf5Api& api) {
  TUTTI_BIND(H5Tcopy);
  TUTTI_BIND(H5Tclose);
  TUTTI_BIND(H5Tset_size);
  TUTTI_BIND(H5Tset_cset);
  TUTTI_BIND(H5Tset_strpad);
  TUTTI_BIND(H5Tset_fields);
  TUTTI_BIND(H5Tset_ebias);
  TUTTI_BIND(H5Tequal);
  TUTTI_BIND(H5Tget_class);
  TUTTI_BIND(H5Tget_size);
  TUTTI_BIND(H5Tis_variable_str);
}

void bind_data(Binder& bind, Hdf5Api& api) {
  TUTTI_BIND(H5Dcreate2);
  TUTTI_BIND(H5Dopen2);
  TUTTI_BIND(H5Dclose);
  TUTTI_BIND(H5Dwrite);
  TUTTI_BIND(H5Dread);
  TUTTI_BIND(H5Dget_space);
  TUTTI_BIND(H5Dget_type);
  TUTTI_BIND(H5Dget_offset);
  TUTTI_BIND(H5Dvlen_reclaim);
  TUTTI_BIND(H5Acreate2);
  TUTTI_BIND(H5Awrite);
  TUTTI_BIND(H5Aexists);
  TUTTI_BIND(H5Aopen);
  TUTTI_BIND(H5Aread);
  TUTTI_BIND(H5Aget_type);
  TUTTI_BIND(H5Aget_space);
  TUTTI_BIND(H5Aclose);
}

#undef TUTTI_BIND

Result<Hdf5Api> load_hdf5() {
  constexpr const char* kHint = "Install Debian's libhdf5-103-1 (tools/setup.sh does)";
  const std::string name = kLibrary;
  void* library = ::dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL);  // never closed: it has an exit handler
  if (!library) return fail(Fault::missing, "HDF5's library " + name + " could not be loaded: " + ::dlerror(), kHint);
  Hdf5Api api{};
  Binder bind(library);
  bind_files(bind, api);
  bind_types(bind, api);
  bind_data(bind, api);
  if (!bind.missing().empty() || api.H5open() < 0)
    return fail(Fault::missing, "HDF5's library " + name + ": " + bind.missing() + " is missing", kHint);
  api.ieee_f32le = bind.id("H5T_IEEE_F32LE_g");
  api.std_i16le = bind.id("H5T_STD_I16LE_g");
  api.std_u64le = bind.id("H5T_STD_U64LE_g");
  api.c_s1 = bind.id("H5T_C_S1_g");
  api.dataset_create = bind.id("H5P_CLS_DATASET_CREATE_ID_g");
  if (!bind.missing().empty())
    return fail(Fault::missing, "HDF5's library " + name + ": " + bind.missing() + " is missing", kHint);
  api.H5Eset_auto2(0, nullptr, nullptr);  // errors are ours to report
  return api;
}

}  // namespace

Result<const Hdf5Api*> Hdf5Api::load() {
  static const auto api = load_hdf5();
  if (!api) return tl::unexpected<Error>(api.error());
  return &*api;
}

}  // namespace tutti
