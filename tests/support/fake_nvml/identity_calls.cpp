// The calls that list system, GPUs, MIG slices and topology. See script.h.
#include <cstdio>
#include <cstring>

#include "script.h"

using fake::Card;

namespace {

int copy(const std::optional<std::string>& text, char* into, unsigned size) {
  if (!text) return fake::kNotSupported;
  std::snprintf(into, size, "%s", text->c_str());
  return fake::kSuccess;
}

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

int fill(const Card* card, PciInfo* info) {
  std::memset(info, 0, sizeof *info);
  if (copy(fake::field(card, "bus"), info->bus_id, sizeof info->bus_id) != 0) return fake::kNotSupported;
  const int read = std::sscanf(info->bus_id, "%x:%x:%x", &info->domain, &info->bus, &info->device);
  return read == 3 ? fake::kSuccess : fake::kInvalidArgument;
}

int answer(const std::optional<unsigned long long>& number, unsigned* into) {
  if (!number) return fake::kNotSupported;
  *into = static_cast<unsigned>(*number);
  return fake::kSuccess;
}

/// "0-3,8" as a mask.
void set_bits(const char* list, unsigned words, unsigned long* mask) {
  std::memset(mask, 0, words * sizeof *mask);
  unsigned first = 0, last = 0;
  for (int used = 0; *list; list += used) {
    used = 0;
    if (std::sscanf(list, "%u-%u%n", &first, &last, &used) < 2 || used == 0) {
      if (std::sscanf(list, "%u%n", &first, &used) != 1) return;
      last = first;
    }
    for (unsigned bit = first; bit <= last && bit / 64 < words; ++bit) mask[bit / 64] |= 1UL << bit % 64;
    if (list[used] == ',') ++used;
  }
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const int code = fake::enter("nvmlInit_v2");
  return code ? code : fake::start();
}

int nvmlShutdown() {
  const int code = fake::enter("nvmlShutdown");
  return code ? code : fake::stop();
}

const char* nvmlErrorString(int code) {
  switch (code) {
    case fake::kSuccess: return "The operation was successful";
    case fake::kUninitialised: return "Uninitialized";
    case fake::kInvalidArgument: return "Invalid Argument";
    case fake::kNotSupported: return "Not Supported";
    case fake::kNotFound: return "Not Found";
    case fake::kInsufficientSize: return "Insufficient Size";
    case fake::kDriverNotLoaded: return "Driver Not Loaded";
    case fake::kTimeout: return "Timeout";
    case fake::kGpuIsLost: return "GPU is lost";
    case 16: return "GPU requires reset";
    default: return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  const int code = fake::enter("nvmlSystemGetDriverVersion");
  return code ? code : copy(fake::system_field("driver"), version, size);
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (const int code = fake::enter("nvmlSystemGetCudaDriverVersion_v2")) return code;
  const auto text = fake::system_field("cuda");
  return text && std::sscanf(text->c_str(), "%d", version) == 1 ? fake::kSuccess : fake::kNotSupported;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  const int code = fake::enter("nvmlDeviceGetCount_v2");
  if (code == 0) *count = fake::card_count();
  return code;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, const Card** device) {
  *device = fake::card_at(index);
  return *device ? fake::enter("nvmlDeviceGetHandleByIndex_v2", *device) : fake::kInvalidArgument;
}

int nvmlDeviceGetUUID(const Card* device, char* uuid, unsigned size) {
  const int code = fake::enter("nvmlDeviceGetUUID", device);
  return code ? code : copy(fake::field(device, "uuid"), uuid, size);
}

int nvmlDeviceGetName(const Card* device, char* name, unsigned size) {
  const int code = fake::enter("nvmlDeviceGetName", device);
  return code ? code : copy(fake::field(device, "name"), name, size);
}

int nvmlDeviceGetPciInfo_v3(const Card* device, PciInfo* info) {
  const int code = fake::enter("nvmlDeviceGetPciInfo_v3", device);
  return code ? code : fill(device, info);
}

int nvmlDeviceGetCudaComputeCapability(const Card* device, int* major, int* minor) {
  if (const int code = fake::enter("nvmlDeviceGetCudaComputeCapability", device)) return code;
  const auto text = fake::field(device, "cc");
  return text && std::sscanf(text->c_str(), "%d.%d", major, minor) == 2 ? fake::kSuccess : fake::kNotSupported;
}

int nvmlDeviceGetMigMode(const Card* device, unsigned* current, unsigned* pending) {
  if (const int code = fake::enter("nvmlDeviceGetMigMode", device)) return code;
  const auto mode = fake::number(device, "mig");
  *pending = static_cast<unsigned>(mode.value_or(0));
  return answer(mode, current);
}

int nvmlDeviceGetMaxMigDeviceCount(const Card* device, unsigned* count) {
  const int code = fake::enter("nvmlDeviceGetMaxMigDeviceCount", device);
  if (code == 0) *count = fake::number(device, "mig").value_or(0) ? 7 : 0;
  return code;
}

int nvmlDeviceGetMigDeviceHandleByIndex(const Card* device, unsigned index, const Card** slice) {
  if (const int code = fake::enter("nvmlDeviceGetMigDeviceHandleByIndex", device)) return code;
  *slice = fake::slice_at(device, index);
  return *slice ? fake::kSuccess : fake::kNotFound;
}

int nvmlDeviceGetGpuInstanceId(const Card* slice, unsigned* id) {
  const int code = fake::enter("nvmlDeviceGetGpuInstanceId", slice);
  return code ? code : answer(fake::number(slice, "gi"), id);
}

int nvmlDeviceGetComputeInstanceId(const Card* slice, unsigned* id) {
  const int code = fake::enter("nvmlDeviceGetComputeInstanceId", slice);
  return code ? code : answer(fake::number(slice, "ci"), id);
}

int nvmlDeviceGetTopologyCommonAncestor(const Card* one, const Card* other, int* level) {
  if (const int code = fake::enter("nvmlDeviceGetTopologyCommonAncestor", one)) return code;
  const std::string name = fake::between(one, other).value_or("");
  constexpr const char* kNames[] = {"INTERNAL", "PIX", "PXB", "PHB", "NODE", "SYS"};
  for (int i = 0; i < 6; ++i)
    if (name == kNames[i]) return *level = 10 * i, fake::kSuccess;
  return fake::kNotSupported;
}

int nvmlDeviceGetNvLinkState(const Card* device, unsigned link, unsigned* active) {
  if (const int code = fake::enter("nvmlDeviceGetNvLinkState", device)) return code;
  const auto links = fake::links(device);
  if (links.empty()) return fake::kNotSupported;
  *active = link < links.size();
  return fake::kSuccess;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(const Card* device, unsigned link, int* kind) {
  if (const int code = fake::enter("nvmlDeviceGetNvLinkRemoteDeviceType", device)) return code;
  const auto links = fake::links(device);
  if (link >= links.size()) return fake::kNotSupported;
  *kind = links[link] ? 0 : 2;
  return fake::kSuccess;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(const Card* device, unsigned link, PciInfo* info) {
  if (const int code = fake::enter("nvmlDeviceGetNvLinkRemotePciInfo_v2", device)) return code;
  const auto links = fake::links(device);
  return link < links.size() && links[link] ? fill(links[link], info) : fake::kNotSupported;
}

int nvmlDeviceGetCpuAffinity(const Card* device, unsigned words, unsigned long* mask) {
  if (const int code = fake::enter("nvmlDeviceGetCpuAffinity", device)) return code;
  const auto list = fake::field(device, "cpus");
  if (!list) return fake::kNotSupported;
  set_bits(list->c_str(), words, mask);
  return fake::kSuccess;
}

int nvmlDeviceGetMemoryAffinity(const Card* device, unsigned words, unsigned long* mask, int) {
  if (const int code = fake::enter("nvmlDeviceGetMemoryAffinity", device)) return code;
  const auto list = fake::field(device, "numa");
  if (!list) return fake::kNotSupported;
  set_bits(list->c_str(), words, mask);
  return fake::kSuccess;
}
}
