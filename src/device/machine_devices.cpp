#include "device/machine_devices.h"

#include <cstdlib>
#include <utility>

#include "device/machine.h"
#include "device/nvml/nvml.h"
#include "device/visible.h"

namespace tutti {

std::string MachineDevices::choices() const {
  std::string text = "cpu";
  for (std::size_t i = 0; i < visible.size(); ++i)
    text += ", cuda:" + std::to_string(i) + " (" + visible[i].name.value_or("unknown name") +
            (visible[i].uuid ? ", " + *visible[i].uuid : "") + ")";
  return text;
}

MachineDevices find_devices() {
  MachineDevices devices;
  devices.cpu = read_cpu().model.value_or("CPU");
  const auto nvml = Nvml::open();
  auto listing = nvml ? nvml->list() : tl::unexpected<Error>(nvml.error());
  if (!listing) {
    devices.notes.push_back(listing.error().text());
    return devices;
  }
  devices.driver = nvml->driver_version();
  devices.cuda = nvml->cuda_version();
  devices.gpus = std::move(listing->gpus);
  devices.notes = std::move(listing->problems);
  const char* named = std::getenv("CUDA_VISIBLE_DEVICES");
  auto visible = visible_gpus(devices.gpus, named ? std::optional<std::string_view>(named) : std::nullopt);
  devices.visible = std::move(visible.gpus);
  if (visible.problem) devices.notes.push_back(std::move(*visible.problem));
  return devices;
}

}  // namespace tutti
