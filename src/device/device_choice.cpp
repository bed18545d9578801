#include "device/device_choice.h"

namespace tutti {

Result<DeviceChoice> choose_device(std::string_view wanted) {
  if (wanted == "auto" || wanted == "cpu") return DeviceChoice{.name = "cpu"};
  return fail(Fault::missing, "device '" + std::string(wanted) + "': no such device here");
}

}  // namespace tutti
