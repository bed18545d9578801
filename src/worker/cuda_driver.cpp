#include "worker/cuda_driver.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>

namespace tutti {
namespace {

// The driver API's own types (cuda.h): all results are an int, 0 for success.
struct Uuid {
  std::array<unsigned char, 16> bytes{};
};

template <class Function>
Function* function(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

/// Eight, four, four, four and twelve hexadecimal digits.
std::string text_of(const Uuid& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 0 || (i >= 4 && i <= 10 && i % 2 == 0)) text += '-';
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", uuid.bytes[i]);
    text += digits.data();
  }
  return text;
}

}  // namespace

std::optional<CudaDevice> visible_cuda_device(int index) {
  // Never unloaded: libtorch uses the driver too.
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return {};
  auto* init = function<int(unsigned)>(driver, "cuInit");
  auto* get = function<int(int*, int)>(driver, "cuDeviceGet");
  auto* get_uuid = function<int(Uuid*, int)>(driver, "cuDeviceGetUuid_v2");
  auto* get_name = function<int(char*, int, int)>(driver, "cuDeviceGetName");
  int device = 0;
  Uuid uuid;
  std::array<char, 256> name{};
  if (!init || !get || !get_uuid || !get_name || init(0) != 0 || get(&device, index) != 0) return {};
  if (get_uuid(&uuid, device) != 0 || get_name(name.data(), static_cast<int>(name.size()), device) != 0) return {};
  int version = 0;
  auto* get_version = function<int(int*)>(driver, "cuDriverGetVersion");
  if (get_version && get_version(&version) != 0) version = 0;
  return CudaDevice{.uuid = text_of(uuid), .name = name.data(), .driver = version};
}

}  // namespace tutti
