#include "net/url_fetch.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace tutti {
namespace {

bool is_public(const char* text) {
  sockaddr_storage storage{};
  auto* four = reinterpret_cast<sockaddr_in*>(&storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&storage);
  if (::inet_pton(AF_INET, text, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
  } else {
    EXPECT_EQ(::inet_pton(AF_INET6, text, &six->sin6_addr), 1) << text;
    six->sin6_family = AF_INET6;
  }
  return is_public_address(reinterpret_cast<const sockaddr&>(storage));
}

TEST(UrlFetch, AddressesOfPrivateNetworksAreNotPublic) {
  for (const char* address : {"127.0.0.1",
                              "10.1.2.3",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.168.1.1",
                              "169.254.169.254",
                              "100.64.0.1",
                              "0.0.0.0",
                              "224.0.0.1",
                              "255.255.255.255",
                              "::1",
                              "::",
                              "fe80::1",
                              "fc00::1",
                              "fd12::1",
                              "ff02::1",
                              "::ffff:127.0.0.1",
                              "::ffff:10.0.0.1",
                              "64:ff9b::7f00:1",
                              "2002:7f00:1::",
                              "2001:db8::1",
                              "2001::1"})
    EXPECT_FALSE(is_public(address)) << address;
}

TEST(UrlFetch, AddressesOfTheInternetArePublic) {
  for (const char* address : {"1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "192.167.1.1", "2606:4700::1111",
                              "::ffff:8.8.8.8", "64:ff9b::808:808", "100.63.0.1", "100.128.0.1"})
    EXPECT_TRUE(is_public(address)) << address;
}

TEST(UrlFetch, AddressMustBeOfTheWeb) {
  EXPECT_TRUE(check_url("https://a.example/b.mp3"));
  EXPECT_TRUE(check_url("HTTP://a.example"));
  for (const char* url :
       {"file:///etc/passwd", "ftp://a/b", "//a/b", "http://", "https://?x", "http:/a", "", "http://a\nb"})
    EXPECT_FALSE(check_url(url)) << url;
}

TEST(UrlFetch, LoopbackIsRefusedUnlessItsHostIsNamed) {
  const UrlLimits usual{};
  const auto refused = fetch_url("http://127.0.0.1:9/a", -1, usual, [] { return true; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::refused);
  EXPECT_NE(refused.error().what.find("public internet"), std::string::npos) << refused.error().what;
  const UrlLimits named{.private_hosts = {"127.0.0.1"}};
  const auto away = fetch_url("http://user:secret@127.0.0.1:9/a?key=secret", -1, named, [] { return true; });
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().fault, Fault::unavailable) << "nothing listens there";
  EXPECT_EQ(away.error().what.find("secret"), std::string::npos) << away.error().what;
}

}  // namespace
}  // namespace tutti
