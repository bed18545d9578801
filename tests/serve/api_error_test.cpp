#include "serve/openai/api_error.h"

#include <gtest/gtest.h>

#include "base/json.h"

using namespace tutti;

namespace {

std::string header_of(const HttpAnswer& answer, const std::string& name) {
  for (const auto& [key, value] : answer.headers)
    if (key == name) return value;
  return {};
}

}  // namespace

TEST(ApiError, HasTheFourFieldsThatClientsRead) {
  const auto json = nlohmann::json::parse(
      answer_of({.status = 404, .message = "no", .param = "model", .code = "model_not_found"}).body);
  EXPECT_EQ(
      json,
      (nlohmann::json{
          {"error",
           {{"message", "no"}, {"type", "invalid_request_error"}, {"param", "model"}, {"code", "model_not_found"}}}}));
  EXPECT_TRUE(nlohmann::json::parse(answer_of({.message = "no"}).body)["error"]["param"].is_null());
}

TEST(ApiError, OverloadNamesWhenToComeBack) {
  EXPECT_EQ(header_of(answer_of({.status = 429, .retry_after = Seconds(2.2)}), "Retry-After"), "3");
  EXPECT_EQ(header_of(answer_of({.status = 503}), "Retry-After"), "1");
  EXPECT_EQ(header_of(answer_of({.status = 401}), "WWW-Authenticate"), "Bearer");
}

TEST(ApiError, FaultOfTheInputIsTheClientsAndOfADeviceOurs) {
  EXPECT_EQ(api_error_of({Fault::corrupt, "damaged"}, "file").status, 400);
  EXPECT_EQ(api_error_of({Fault::corrupt, "damaged"}, "file").param, "file");
  EXPECT_EQ(api_error_of({Fault::refused, "too long"}, "file").status, 413);
  EXPECT_EQ(api_error_of({Fault::device, "gone"}, "file").status, 503);
  EXPECT_EQ(api_error_of({Fault::device, "gone"}, "file").param, "");
  EXPECT_EQ(api_error_of({Fault::internal, "?"}, "file").status, 500);
}
