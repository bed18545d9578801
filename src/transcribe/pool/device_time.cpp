#include "transcribe/pool/device_time.h"

#include <string_view>
#include <utility>

namespace tutti {
namespace {

constexpr std::pair<std::string_view, Seconds IdleTime::*> kIdleParts[] = {
    {"no_task", &IdleTime::no_job},
    {"waiting_for_input", &IdleTime::input},
    {"memory", &IdleTime::memory},
    {"cap", &IdleTime::cap},
    {"fault", &IdleTime::fault},
    {"starting", &IdleTime::starting},
    {"left_to_faster", &IdleTime::left_to_faster},
    {"drained", &IdleTime::drained},
    {"disk_full", &IdleTime::disk_full},
    {"not_writable", &IdleTime::not_writable},
    {"waiting_for_stalled", &IdleTime::stalled},
    {"put_off", &IdleTime::put_off},
    {"waiting_for_answer", &IdleTime::awaiting_answer}};

}  // namespace

DeviceTime device_time(const PooledDeviceView& device) {
  DeviceTime time{.id = device.id,
                  .busy = device.busy,
                  .audio = device.audio_done,
                  .windows = device.windows_done,
                  .rated = device.rated};
  for (const auto& [reason, length] : device.idle)
    for (const auto& [name, part] : kIdleParts)
      if (name == reason) time.idle.*part = length;
  return time;
}

}  // namespace tutti
