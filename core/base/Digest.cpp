// SPDX-License-Identifier: Apache-2.0
#include "core/base/Digest.h"

#include <openssl/evp.h>
#include <sys/random.h>

#include <array>
#include <cstdlib>

namespace heddle {

namespace {

std::string toHex(const unsigned char *bytes, std::size_t count)
{
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(count * 2);
    for (std::size_t i = 0; i < count; ++i) {
        out += digits[bytes[i] >> 4];
        out += digits[bytes[i] & 15];
    }
    return out;
}

} // namespace

std::string sha256Hex(std::string_view bytes)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int length = 0;
    // Fails only when OpenSSL has no SHA-256 at all: nothing can be named then.
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
        std::abort();
    return toHex(digest.data(), length);
}

std::string treeDigest(const FileTree &tree)
{
    std::string listing;
    for (const auto &[name, bytes] : tree)
        listing += sha256Hex(bytes) + ' ' + std::to_string(bytes.size()) + ' ' + name + '\n';
    return sha256Hex(listing);
}

std::string randomHex(std::size_t count)
{
    std::string bytes(count, '\0');
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got = ::getrandom(bytes.data() + done, count - done, 0);
        if (got > 0)
            done += static_cast<std::size_t>(got);
    }
    return toHex(reinterpret_cast<const unsigned char *>(bytes.data()), count);
}

} // namespace heddle
