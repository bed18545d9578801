#include "device/list/device_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_folder.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

MachineDevices no_gpu() {
  MachineDevices machine;
  machine.cpu = "a processor";
  return machine;
}

MachineDevices two_gpus() {
  MachineDevices machine = no_gpu();
  for (int i = 0; i < 2; ++i) {
    Gpu& gpu = machine.gpus.emplace_back();
    gpu.index = i;
    gpu.uuid = "GPU-" + std::string(4, static_cast<char>('a' + i));
  }
  machine.visible = machine.gpus;
  return machine;
}

std::vector<std::string> ids(std::string_view list, const MachineDevices& machine) {
  std::vector<std::string> all;
  const auto chosen = choose_devices(parse_device_list(list).value(), machine).value();
  for (const auto& device : chosen) all.push_back(device.id);
  return all;
}

Error error_of(std::string_view list) {
  const auto listed = parse_device_list(list);
  if (!listed) return listed.error();
  return choose_devices(*listed, two_gpus()).error();
}

std::string file(const TempFolder& folder, const std::string& content) {
  const auto path = folder / "devices.toml";
  EXPECT_TRUE(write_file_atomically(path, content));
  return path.string();
}

}  // namespace

TEST(DeviceList, AutoIsEveryGpuElseTheCpu) {
  EXPECT_THAT(ids("auto", two_gpus()), testing::ElementsAre("GPU-aaaa", "GPU-bbbb"));
  EXPECT_THAT(ids("auto", no_gpu()), testing::ElementsAre("cpu"));
}

TEST(DeviceList, AcceptsEveryKindAndNumbersEqualDevices) {
  EXPECT_THAT(ids("cuda:1,cpu:0,emulated:30x:12GB,emulated:30x:12GB", two_gpus()),
              testing::ElementsAre("GPU-bbbb", "cpu:0", "emulated:30x:12GB", "emulated:30x:12GB#2"));
}

TEST(DeviceList, OneDeviceUnderTwoNamesIsRefused) {
  EXPECT_THAT(error_of("cuda:0,GPU-aa").what, HasSubstr("named twice"));
  EXPECT_THAT(error_of("cpu:0,cpu:0").what, HasSubstr("named twice"));
}

TEST(DeviceList, ErrorsNameTheNearestRightForm) {
  EXPECT_THAT(error_of("cdua:0").hint, HasSubstr("cuda:N"));
  EXPECT_THAT(error_of("cpu0").hint, HasSubstr("cpu:N"));
  EXPECT_THAT(error_of("emulate:30x").hint, HasSubstr("emulated:30x:12GB"));
  EXPECT_THAT(error_of("emulated:30:12GB").what, HasSubstr("emulated:30:12GB"));
  EXPECT_THAT(error_of("cpu:4000").what, HasSubstr("may not use"));
  EXPECT_THAT(error_of("cpu:4000").hint, HasSubstr("cpu:"));
}

TEST(DeviceList, AFileGivesEachCardItsFailuresAndAllTheirClock) {
  const TempFolder folder;
  const auto path = file(folder, R"(
time = 0.1
[[device]]
use = "emulated:30x:12GB"
name = "left"
count = 2
jitter = 0.25
warm-up = 3
failures = ["die@30", "lost@60+30"]
[[device]]
use = "emulated:12x:8GB"
)");
  const auto devices = choose_devices(parse_device_list(path).value(), two_gpus());
  ASSERT_TRUE(devices) << devices.error().text();
  ASSERT_EQ(devices->size(), 3U);
  EXPECT_EQ((*devices)[1].id, "left#2");
  const EmulatedCard& card = (*devices)[0].device.card;
  EXPECT_EQ(card.speed, 30);
  EXPECT_EQ(card.time, 0.1);
  EXPECT_EQ(card.jitter, 0.25);
  EXPECT_EQ(card.warm_up, Seconds(3));
  ASSERT_EQ(card.failures.size(), 2U);
  EXPECT_EQ(card.failures[1], (EmulatedFailure{EmulatedFailure::Kind::lost, Seconds(60), Seconds(30)}));
  EXPECT_NE(card.seed, (*devices)[1].device.card.seed) << "alike cards must not jitter in step";
  EXPECT_EQ((*devices)[2].device.card.time, 0.1);
}

TEST(DeviceList, FileErrorsNameTheDeviceEntry) {
  const TempFolder folder;
  const auto wrong = [&](const std::string& content) { return error_of(file(folder, content)).text(); };
  EXPECT_THAT(wrong("[[device]]\nuse = \"emulated:3x\"\njiter = 0.1\n"), HasSubstr("Did you mean 'jitter'?"));
  EXPECT_THAT(wrong("[[device]]\nuse = \"emulated:3x\"\njitter = 2\n"), HasSubstr("device 1: 'jitter' cannot be 2"));
  EXPECT_THAT(wrong("[[device]]\nuse = \"cpu\"\njitter = 0.1\n"), HasSubstr("need an emulated card"));
  EXPECT_THAT(wrong("[[device]]\nuse = \"emulated:3x\"\nfailures = [\"dye@3\"]\n"), HasSubstr("Did you mean die@"));
  EXPECT_THAT(wrong("[[device]]\nuse = \"emulated:3x\"\nfailures = [\"die\"]\n"), HasSubstr("a time in seconds"));
  for (const char* name : {"left,right", "left\\nright", " left"})
    EXPECT_THAT(wrong("[[device]]\nuse = \"emulated:3x\"\nname = \"" + std::string(name) + "\"\n"),
                HasSubstr("'name' cannot be "));
  EXPECT_THAT(wrong("time = 1\n"), HasSubstr("at least one [[device]]"));
  EXPECT_THAT(wrong("time = \n"), HasSubstr(".toml:1:"));
}

TEST(EmulatedCard, WindowsAreLimitedBySlotsAndByMemory) {
  EXPECT_EQ((EmulatedCard{.memory = {std::int64_t{24} << 30}, .slots = 8}).windows(), 8);
  EXPECT_EQ((EmulatedCard{.memory = {std::int64_t{4} << 30}, .slots = 8}).windows(), 2);
  EXPECT_EQ((EmulatedCard{.memory = {std::int64_t{1} << 30}, .slots = 8}).windows(), 1);
}
