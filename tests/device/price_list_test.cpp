#include "device/prices/price_list.h"

#include <gmock/gmock.h>

#include <fstream>
#include <regex>

#include "support/temp_folder.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

const PricedDevice kT4{.id = "GPU-1a", .label = "cuda:0", .name = "Tesla T4"};
const PricedDevice kL40s{.id = "GPU-2b", .label = "cuda:1", .name = "NVIDIA L40S"};
const PricedDevice kCpu{.id = "cpu", .label = "cpu", .name = "Intel(R) Xeon(R) Platinum 8488C", .on_cpu = true};
const std::vector<PricedDevice> kAll{kT4, kL40s, kCpu};

PriceList listed(std::string_view text) {
  const auto list = parse_prices(text);
  EXPECT_TRUE(list) << list.error().text();
  return list.value_or(PriceList{});
}

std::string refusal(std::string_view text, const std::string& purchase = kUsualPurchase) {
  const auto list = parse_prices(text);
  if (!list) return list.error().text();
  const auto prices = prices_of(*list, purchase, kAll);
  return prices ? "" : prices.error().text();
}

class PriceFile : public testing::Test {
 protected:
  std::string file(const std::string& text, const std::string& name = "prices.toml") {
    std::ofstream(folder_.path() / name) << text;
    return folder_.path() / name;
  }
  std::string wrong(const std::string& text) {
    const auto list = read_price_file(file(text));
    return list ? "" : list.error().text();
  }
  const TempFolder folder_;
};

constexpr const char* kT4Price =
    "[[price]]\ndevice = \"T4\"\ninstance = \"g4dn.xlarge\"\npurchase = \"on-demand\"\nusd_hour = 0.526\ndate = "
    "2025-07-07\n";

}  // namespace

TEST(Prices, OneNumberIsThePriceOfEveryDeviceWithoutItsOwn) {
  const auto prices = prices_of(listed("0.5"), kUsualPurchase, kAll);
  ASSERT_TRUE(prices);
  EXPECT_EQ(*prices, (HourlyPrices{{"GPU-1a", 0.5}, {"GPU-2b", 0.5}, {"cpu", 0.5}}));
  EXPECT_EQ(*prices_of(listed("T4=0.526,0.1"), kUsualPurchase, kAll),
            (HourlyPrices{{"GPU-1a", 0.526}, {"GPU-2b", 0.1}, {"cpu", 0.1}}));
}

TEST(Prices, ADeviceWithoutAPriceIsMissing) {
  EXPECT_EQ(*prices_of(listed("T4=0.526,cpu=0"), kUsualPurchase, kAll), (HourlyPrices{{"GPU-1a", 0.526}, {"cpu", 0}}));
  EXPECT_TRUE(listed("").is_empty());
}

TEST(Prices, NamesFitByIdNameWordsAndKindTheClosestFirst) {
  EXPECT_EQ(likeness("L4", kL40s), 0) << "L4 is no word of L40S";
  EXPECT_EQ(likeness("gpu", kCpu), 0);
  EXPECT_EQ(likeness("RTX 4070", {.name = "NVIDIA GeForce RTX 4080"}), 0);
  EXPECT_EQ(likeness("T4", {}), 0);
  EXPECT_EQ(likeness("--", {}), 0) << "no words fit no name";
  EXPECT_GT(likeness("gpu", kT4), 0);
  EXPECT_GT(likeness("t4", kT4), likeness("gpu", kT4));
  EXPECT_GT(likeness("tesla t4", kT4), likeness("T4", kT4));
  EXPECT_GT(likeness("cuda:0", kT4), likeness("Tesla T4", kT4));
  EXPECT_GT(likeness("left", {.id = "left#2", .label = "left#2"}), 0) << "one of several alike";
  const PricedDevice ti{.id = "GPU-3c", .label = "cuda:2", .name = "NVIDIA GeForce RTX 4070 Ti"};
  EXPECT_GT(likeness("RTX 4070 Ti", ti), likeness("RTX 4070", ti));
  EXPECT_EQ(prices_of(listed("gpu=1,T4=2"), kUsualPurchase, kAll)->at("GPU-1a"), 2);
}

TEST(Prices, WhatIsNoPriceIsRefusedByName) {
  EXPECT_THAT(refusal("-1"), HasSubstr("price: expected 0 or more, found -1"));
  EXPECT_THAT(refusal("T4=-1"), HasSubstr("expected 0 or more, found -1 in 'T4=-1'"));
  EXPECT_THAT(refusal("T4=cheap"), HasSubstr("expected a price in USD an hour, found cheap"));
  EXPECT_THAT(refusal("T4="), HasSubstr("expected a price in USD an hour, found nothing in 'T4='"));
  EXPECT_THAT(refusal("nan"), HasSubstr("found nan"));
  EXPECT_THAT(refusal("inf"), HasSubstr("found inf"));
  EXPECT_THAT(refusal("=1"), HasSubstr("expected a device's name before '=1'"));
  EXPECT_THAT(refusal("0.5,"), "") << "as in every list";
  EXPECT_THAT(refusal("1000001"), HasSubstr("expected at most 1000000, found 1000001"));
  EXPECT_THAT(refusal("T4=0.5,t4=0.6"), HasSubstr("price: t4 has two prices: 0.5 and 0.6. Leave one out"));
  EXPECT_THAT(refusal("0.5,0.7"), HasSubstr("every device has two prices: 0.5 and 0.7"));
  EXPECT_EQ(refusal("1000000"), "");
  EXPECT_THAT(refusal("T5=1"), HasSubstr("T5: no device here is named so. There are: cuda:0 (Tesla T4), cuda:1"));
  EXPECT_THAT(refusal("nowhere.toml"), HasSubstr("nowhere.toml"));
}

TEST_F(PriceFile, PurchaseChoosesAndAnUnknownOneIsRefused) {
  const auto path =
      file(std::string(kT4Price) +
           "[[price]]\ndevice = \"T4\"\ninstance = \"g4dn.xlarge\"\npurchase = \"spot\"\nusd_hour = 0.2\ndate = "
           "2025-07-07\n");
  EXPECT_EQ(prices_of(listed(path), "on-demand", kAll)->at("GPU-1a"), 0.526);
  EXPECT_EQ(prices_of(listed(path), "spot", kAll)->at("GPU-1a"), 0.2);
  EXPECT_EQ(prices_of(listed(path + ",T4=0.3"), "spot", kAll)->at("GPU-1a"), 0.3) << "a typed price wins";
  EXPECT_THAT(refusal(path, "spott"),
              HasSubstr("purchase spott: the price file has none of this kind. It has on-demand"));
  EXPECT_EQ(prices_of(listed(path), "spot", kAll)->count("cpu"), 0U);
}

TEST_F(PriceFile, TheLatestDateCountsAndDevicesShareTheirInstance) {
  const auto path = file(std::string(kT4Price) +
                         "[[price]]\ndevice = \"T4\"\ninstance = \"g4dn.xlarge\"\npurchase = \"on-demand\"\nusd_hour = "
                         "0.6\ndate = 2026-01-01\n"
                         "[[price]]\ndevice = \"L40S\"\ndevices = 4\npurchase = \"on-demand\"\nusd_hour = 8\ndate = "
                         "2026-01-01\n");
  const auto list = listed(path);
  EXPECT_EQ(list.prices.size(), 2U);
  EXPECT_EQ(*prices_of(list, kUsualPurchase, kAll), (HourlyPrices{{"GPU-1a", 0.6}, {"GPU-2b", 2}}));
}

TEST_F(PriceFile, LatestDateCountsAcrossFilesInAnyOrder) {
  const auto with = [](const std::string& amount, const std::string& date) {
    return "[[price]]\ndevice = \"T4\"\npurchase = \"on-demand\"\nusd_hour = " + amount + "\ndate = " + date + "\n";
  };
  const auto older = file(with("0.9", "2025-07-07"), "older.toml");
  const auto newer = file(with("0.6", "2026-01-01"), "newer.toml");
  const auto other = file(with("0.7", "2026-01-01"), "other.toml");
  EXPECT_EQ(prices_of(listed(older + "," + newer), kUsualPurchase, kAll)->at("GPU-1a"), 0.6);
  EXPECT_EQ(prices_of(listed(newer + "," + older), kUsualPurchase, kAll)->at("GPU-1a"), 0.6);
  EXPECT_EQ(listed(newer + "," + older).prices.size(), 1U);
  EXPECT_EQ(listed(newer + "," + newer).prices.size(), 1U);
  EXPECT_THAT(refusal(newer + "," + other), HasSubstr("other.toml: T4 has another price of on-demand of 2026-01-01"));
}

TEST(Prices, TimeIsPaidByTheHour) {
  EXPECT_DOUBLE_EQ(usd_of(0.5, Seconds(7200)), 1);
  EXPECT_EQ(usd_of(0.5, Seconds(0)), 0);
}

TEST_F(PriceFile, TwoInstancesOfADeviceMustBeChosenFrom) {
  const auto path =
      file(std::string(kT4Price) +
           "[[price]]\ndevice = \"T4\"\ninstance = \"g4dn.2xlarge\"\npurchase = \"on-demand\"\nusd_hour = "
           "0.752\ndate = 2025-07-07\n");
  EXPECT_THAT(refusal(path), HasSubstr("cuda:0 may be of g4dn.xlarge or of g4dn.2xlarge"));
  EXPECT_EQ(refusal(path + ",T4=0.752"), "");
}

TEST_F(PriceFile, DefectsAreNamedWithFileEntryAndKey) {
  const std::string text = kT4Price;
  EXPECT_THAT(wrong(text + "[[price]]\nusd_hour = 1\n"), HasSubstr("prices.toml: price 2: expected device = "));
  EXPECT_THAT(wrong(text + "usd_hor = 1\n"), HasSubstr("price 1: no such key 'usd_hor'. Did you mean 'usd_hour'?"));
  EXPECT_THAT(wrong("[[price]]\nusd_hour = \"1\"\n"), HasSubstr("'usd_hour' cannot be"));
  EXPECT_THAT(wrong("[[price]]\nusd_hour = -1\n"), HasSubstr("'usd_hour' cannot be -1"));
  EXPECT_THAT(wrong("[[price]]\ndate = \"2025-07-07\"\n"), HasSubstr("'date' cannot be")) << "a date has no quotes";
  EXPECT_THAT(wrong("[[price]]\ndate = 2025-13-07\n"), HasSubstr("prices.toml:2:")) << "there is no such day";
  EXPECT_THAT(wrong("[[price]]\ndevice = \"\"\n"), HasSubstr("'device' cannot be"));
  EXPECT_THAT(wrong("[[price]]\ndevices = 0\n"), HasSubstr("'devices' cannot be 0"));
  EXPECT_THAT(wrong("[[price]]\ndevices = 1.5\n"), HasSubstr("'devices' cannot be 1.5"));
  EXPECT_THAT(wrong("[[price]]\nusd_hour = 1000001\n"), HasSubstr("'usd_hour' cannot be 1000001"));
  EXPECT_THAT(wrong(text + "[requests]\nper_recording = 3\n"), HasSubstr("expected usd_million = AMOUNT"));
  EXPECT_EQ(wrong(text + text), "") << "twice the same is no contradiction";
  EXPECT_THAT(wrong(text + std::regex_replace(text, std::regex("0\\.526"), "0.6")),
              HasSubstr("price 2: g4dn.xlarge has another price of on-demand of 2025-07-07"));
  EXPECT_THAT(wrong("[storage]\nusd_gb = 1\n"), HasSubstr("storage: no such key 'usd_gb'"));
  EXPECT_THAT(wrong("price = 3\n"), HasSubstr("'price' cannot be 3"));
  EXPECT_THAT(wrong("price = [3]\n"), HasSubstr("price 1: expected [[price]]"));
  EXPECT_THAT(wrong(""), HasSubstr("expected at least one [[price]], found none"));
  EXPECT_THAT(wrong(text + "[[price]\n"), HasSubstr("prices.toml:"));
}

TEST_F(PriceFile, TheExampleIsReadAndHasBothPurchasesOfEveryKind) {
  const auto list = read_price_file(TUTTI_SOURCE_DIR "/examples/prices.toml");
  ASSERT_TRUE(list) << list.error().text();
  std::map<std::string, std::map<std::string, double>> prices;
  for (const Price& price : list->prices) {
    prices[price.instance][price.purchase] = price.usd_hour;
    EXPECT_EQ(price.date.size(), 10U) << price.date;
  }
  EXPECT_EQ(prices.size(), 4U);
  for (const auto& [instance, bought] : prices) {
    ASSERT_EQ(bought.size(), 2U) << instance;
    EXPECT_LT(bought.at("spot"), bought.at("on-demand")) << instance;
  }
  EXPECT_EQ(prices["g4dn.xlarge"]["on-demand"], 0.526) << "the field note calls that spot";
  EXPECT_EQ(list->services.usd_million_requests, 0.4);
  EXPECT_EQ(list->services.usd_gb_month, 0.023);
}
