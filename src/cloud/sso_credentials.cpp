#include "cloud/sso_credentials.h"

#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "cloud/answer_text.h"
#include "cloud/aws_endpoint.h"
#include "cloud/aws_error.h"
#include "cloud/aws_request.h"
#include "cloud/role_credentials.h"
#include "net/http.h"

namespace tutti {
namespace {

constexpr std::size_t kMostBytes = 1U << 20;

struct Login {
  std::string token{};
  std::chrono::system_clock::time_point expires{};
};

/// The login to that address which lasts longest. Files of other kinds lie in the folder, too.
std::optional<Login> latest_login(const std::string& start_url) {
  std::optional<Login> latest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(sso_cache_folder(), error)) {
    if (entry.path().extension() != ".json") continue;
    const auto json = nlohmann::json::parse(read_regular_file(entry.path()).value_or(""), nullptr, false);
    if (!json.is_object() || json_text(json, "startUrl") != start_url || json_text(json, "accessToken").empty())
      continue;
    const auto expires = aws_time(json_text(json, "expiresAt"));
    if (expires && (!latest || *expires > latest->expires)) latest = Login{json_text(json, "accessToken"), *expires};
  }
  return latest;
}

}  // namespace

Result<std::optional<Credentials>> sso_credentials(const AwsProfile& profile, const std::function<bool()>& go_on) {
  const std::string source = "profile " + profile.name, log_in = "Run 'aws sso login --profile " + profile.name + "'";
  for (const char* needed : {"sso_start_url", "sso_region", "sso_role_name"})
    if (profile.value(needed).empty())
      return fail(Fault::usage, source + ": it has sso_account_id, but no " + needed, "Run 'aws configure sso'");
  const auto login = latest_login(profile.value("sso_start_url"));
  if (!login) return fail(Fault::refused, source + ": there is no login to " + profile.value("sso_start_url"), log_in);
  if (login->expires <= std::chrono::system_clock::now())
    return fail(Fault::refused, source + ": the login to " + profile.value("sso_start_url") + " has expired", log_in);

  auto http = Http::load();
  if (!http) return tl::unexpected(http.error());
  const std::string region = profile.value("sso_region");
  const AwsRequest request{
      .origin = service_origin("portal.sso", region, ""),
      .path = "/federation/credentials",
      .query = {{"account_id", profile.value("sso_account_id")}, {"role_name", profile.value("sso_role_name")}}};
  const auto answer = http->answer({.url = request.origin + target_of(request),
                                    .headers = {"x-amz-sso_bearer_token: " + login->token},
                                    .connect_within = Seconds(10)},
                                   kMostBytes, go_on);
  if (answer.reply.status == 401) return fail(Fault::refused, source + ": the login is not accepted any more", log_in);
  if (answer.reply.status != 200 || !answer.reply.failure.empty())
    return tl::unexpected(aws_error(answer, source, region, "the login").error);
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  const auto role = json.is_object() ? json.value("roleCredentials", nlohmann::json()) : nlohmann::json();
  if (!role.is_object() || json_text(role, "accessKeyId").empty())
    return fail(Fault::corrupt,
                source + ": expected roleCredentials from " + request.origin + ", found something else");
  Credentials credentials{.access_key = json_text(role, "accessKeyId"),
                          .secret_key = json_text(role, "secretAccessKey"),
                          .session_token = json_text(role, "sessionToken"),
                          .source = source};
  if (const auto expires = role.find("expiration"); expires != role.end() && expires->is_number_integer())
    credentials.expires =
        std::chrono::system_clock::time_point(std::chrono::milliseconds(expires->get<std::int64_t>()));
  return credentials;
}

}  // namespace tutti
