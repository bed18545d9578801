#include "worker/cuda_driver.h"

#include <dlfcn.h>

#include <array>
#include <span>

#include "base/library_call.h"
#include "model/gpu/gpu_uuid.h"

namespace tutti {
namespace {

// The driver API's own types (cuda.h): all results are an int, 0 for success.
struct Uuid {
  std::array<unsigned char, 16> bytes{};
};

}  // namespace

std::optional<CudaDevice> visible_cuda_device(int index) {
  // Never unloaded: libtorch uses the driver too.
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return {};
  int (*init)(unsigned) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*get_uuid)(Uuid*, int) = nullptr;
  int (*get_name)(char*, int, int) = nullptr;
  const bool is_whole = look_up(driver, "cuInit", init) && look_up(driver, "cuDeviceGet", get) &&
                        look_up(driver, "cuDeviceGetUuid_v2", get_uuid) && look_up(driver, "cuDeviceGetName", get_name);
  int device = 0;
  Uuid uuid;
  std::array<char, 256> name{};
  if (!is_whole || init(0) != 0 || get(&device, index) != 0) return {};
  if (get_uuid(&uuid, device) != 0 || get_name(name.data(), static_cast<int>(name.size()), device) != 0) return {};
  int version = 0;
  int (*get_version)(int*) = nullptr;
  if (look_up(driver, "cuDriverGetVersion", get_version) && get_version(&version) != 0) version = 0;
  return CudaDevice{
      .uuid = gpu_uuid_text(std::as_bytes(std::span(uuid.bytes))), .name = name.data(), .driver = version};
}

}  // namespace tutti
