#include "cloud/signature.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/json.h"
#include "base/strings.h"

namespace tutti {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string authorization(const AwsRequest& request, const Credentials& credentials, const SigningScope& scope,
                          std::time_t time) {
  for (const auto& [name, value] :
       signed_headers(request, credentials, scope, std::chrono::system_clock::from_time_t(time)))
    if (name == "authorization") return value;
  return {};
}

Pairs pairs_in(const nlohmann::json& array) {
  Pairs pairs;
  for (const auto& pair : array) pairs.emplace_back(pair[0], pair[1]);
  return pairs;
}

struct Signed {
  std::string lines{};
  int exit_code = -1;
};

Signed signed_by_botocore(int count) {
  const std::string script = std::string(TUTTI_SOURCE_DIR) + "/tests/cloud/signed_by_botocore.py";
  FILE* pipe = ::popen(("python3 '" + script + "' " + std::to_string(count)).c_str(), "r");
  Signed answer;
  char piece[65536];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, pipe)) > 0;) answer.lines.append(piece, got);
  const int status = ::pclose(pipe);
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

// docs.aws.amazon.com, "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)", GET Object
TEST(Signature, EqualsThatOfTheExampleInTheDocumentation) {
  const AwsRequest request{
      .origin = "https://examplebucket.s3.amazonaws.com", .path = "/test.txt", .headers = {{"Range", "bytes=0-9"}}};
  const Credentials credentials{.access_key = "AKIAIOSFODNN7EXAMPLE",
                                .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
  EXPECT_EQ(authorization(request, credentials, {"s3", "us-east-1"}, 1369353600),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(Signature, EqualsBotocoresOnAThousandRandomRequests) {
  constexpr int kCount = 1000;
  const Signed expected = signed_by_botocore(kCount);
  if (expected.exit_code == 77) GTEST_SKIP() << expected.lines.substr(expected.lines.find('\n') + 1);
  ASSERT_EQ(expected.exit_code, 0);
  int compared = 0;
  for (const auto line : split(expected.lines, '\n')) {
    const auto made = nlohmann::json::parse(line);
    const AwsRequest request{.method = made["method"],
                             .origin = made["origin"],
                             .path = made["path"],
                             .query = pairs_in(made["query"]),
                             .headers = pairs_in(made["headers"]),
                             .body = made["body"]};
    const Credentials credentials{
        .access_key = made["access"], .secret_key = made["secret"], .session_token = made["token"]};
    ASSERT_EQ(authorization(request, credentials, {made["service"], made["region"]}, made["time"]),
              made["authorization"].get<std::string>())
        << line;
    ++compared;
  }
  EXPECT_EQ(compared, kCount);
}

TEST(Signature, SendsTheTargetThatItSigned) {
  const AwsRequest request{.path = "/talks/monday +1.mp3", .query = {{"prefix", "a/&"}, {"list-type", "2"}}};
  EXPECT_EQ(target_of(request), "/talks/monday%20%2B1.mp3?list-type=2&prefix=a%2F%26");
}

}  // namespace
}  // namespace tutti
