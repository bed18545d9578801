// A stand-in for NVIDIA's libnvidia-ml.so.1. The file named by TUTTI_FAKE_NVML is read at nvmlInit_v2, a line each:
//
//   driver 580.65.06
//   cuda 13000
//   gpu uuid=GPU-… bus=0000:01:00.0 total=24000000000 used=500000000 cc=8.9 name=NVIDIA L4
//   gpu lost
//
// Fields of a GPU may be left out: the driver then does not support that question. `name` comes last and goes to the
// end of the line. A lost GPU is counted but has no handle. Without a file there is no driver.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

enum Code { kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kDriverNotLoaded = 9, kGpuIsLost = 15 };

using Fields = std::map<std::string, std::string>;

struct Script {
  Fields system;
  std::deque<Fields> gpus;
};

Script& script() {
  static Script current;
  return current;
}

Fields fields_of(std::istringstream& words) {
  Fields fields;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const std::string key = word.substr(0, equals);
    if (key == "name") {
      std::string rest;
      std::getline(words, rest);
      value += rest;
    }
    fields[key] = value;
  }
  return fields;
}

int copy(const Fields& fields, const char* key, char* into, unsigned size) {
  const auto at = fields.find(key);
  if (at == fields.end()) return kNotSupported;
  std::snprintf(into, size, "%s", at->second.c_str());
  return kSuccess;
}

unsigned long long number(const Fields& fields, const char* key) {
  const auto at = fields.find(key);
  return at == fields.end() ? 0 : std::stoull(at->second);
}

struct Memory {
  unsigned long long total, free, used;
};

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* named = std::getenv("TUTTI_FAKE_NVML");
  std::ifstream file(named ? named : "");
  if (!file) return kDriverNotLoaded;
  script() = {};
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "gpu")
      script().gpus.push_back(fields_of(words));
    else
      words >> script().system[what];
  }
  return kSuccess;
}

int nvmlShutdown() {
  return kSuccess;
}

const char* nvmlErrorString(int code) {
  switch (code) {
    case kDriverNotLoaded: return "Driver Not Loaded";
    case kGpuIsLost: return "GPU is lost";
    default: return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  return copy(script().system, "driver", version, size);
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (!script().system.contains("cuda")) return kNotSupported;
  *version = static_cast<int>(number(script().system, "cuda"));
  return kSuccess;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(script().gpus.size());
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Fields** device) {
  if (index >= script().gpus.size()) return kInvalidArgument;
  *device = &script().gpus[index];
  return (*device)->contains("lost") ? kGpuIsLost : kSuccess;
}

int nvmlDeviceGetUUID(const Fields* device, char* uuid, unsigned size) {
  return copy(*device, "uuid", uuid, size);
}

int nvmlDeviceGetName(const Fields* device, char* name, unsigned size) {
  return copy(*device, "name", name, size);
}

int nvmlDeviceGetPciInfo_v3(const Fields* device, PciInfo* info) {
  std::memset(info, 0, sizeof *info);
  if (copy(*device, "bus", info->bus_id, sizeof info->bus_id) != kSuccess) return kNotSupported;
  return std::sscanf(info->bus_id, "%x:%x:%x", &info->domain, &info->bus, &info->device) == 3 ? kSuccess
                                                                                              : kInvalidArgument;
}

int nvmlDeviceGetMemoryInfo(const Fields* device, Memory* memory) {
  if (!device->contains("total")) return kNotSupported;
  memory->total = number(*device, "total");
  memory->used = number(*device, "used");
  memory->free = memory->total - memory->used;
  return kSuccess;
}

int nvmlDeviceGetCudaComputeCapability(const Fields* device, int* major, int* minor) {
  const auto at = device->find("cc");
  return at != device->end() && std::sscanf(at->second.c_str(), "%d.%d", major, minor) == 2 ? kSuccess : kNotSupported;
}
}
