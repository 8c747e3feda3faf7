// SPDX-License-Identifier: Apache-2.0
//
// memcached_client PORT CONNECTIONS REQUESTS: a thread for each connection asks a memcached on loopback, of
// eight requests seven for eight keys at once, one to set a key; in the end the server is shut down. Every
// answer is checked. Prints how many were right and, on stderr, how long it took.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "../kernel.h"

namespace {
constexpr uint64_t kKeys = 5000;

class Connection {
 public:
  explicit Connection(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int tries = 0; tries < 3000; tries++) {  // the server needs a moment to listen
      socket_ = socket(AF_INET, SOCK_STREAM, 0);
      if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
      close(socket_);
      usleep(10000);
    }
    std::fprintf(stderr, "memcached does not listen\n");
    std::exit(1);
  }
  ~Connection() { close(socket_); }

  void send(const std::string& text) {
    for (size_t sent = 0; sent < text.size();) {
      ssize_t n = write(socket_, text.data() + sent, text.size() - sent);
      if (n <= 0) fail();
      sent += n;
    }
  }
  /// The answer until it ends so.
  std::string answer(const char* end) {
    std::string text;
    char buffer[16384];
    while (!text.ends_with(end)) {
      ssize_t n = read(socket_, buffer, sizeof buffer);
      if (n <= 0) fail();
      text.append(buffer, n);
    }
    return text;
  }

 private:
  [[noreturn]] static void fail() {
    std::fprintf(stderr, "memcached closed the connection\n");
    std::exit(1);
  }
  int socket_ = -1;
};

std::string key(uint64_t number) {
  return "key-" + std::to_string(number);
}
std::string value(uint64_t number) {
  std::string text = std::to_string(number) + ":";
  text.append(40 + number % 400, static_cast<char>('a' + number % 26));
  return text;
}

bool set(Connection& connection, uint64_t number) {
  std::string text = value(number);
  connection.send("set " + key(number) + " 0 0 " + std::to_string(text.size()) + "\r\n" + text + "\r\n");
  return connection.answer("\r\n") == "STORED\r\n";
}

bool get(Connection& connection, uint64_t number) {
  std::string request = "get", expected;
  for (uint64_t n = number; n < number + 8; n++) {
    std::string text = value(n % kKeys);
    request += " " + key(n % kKeys);
    expected += "VALUE " + key(n % kKeys) + " 0 " + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  }
  connection.send(request + "\r\n");
  return connection.answer("END\r\n") == expected + "END\r\n";
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int port = std::atoi(argv[1]), connections = std::atoi(argv[2]), requests = std::atoi(argv[3]);
  Connection control(port);
  for (uint64_t number = 0; number < kKeys; number++)
    if (!set(control, number)) return 1;
  std::vector<long> right(connections);
  bench::parallel(connections, [&](int t) {
    Connection connection(port);
    bench::Random random(t + 1);
    for (int i = 0; i < requests / connections; i++) {
      const uint64_t number = (random.next() >> 8) % kKeys;
      right[t] += i % 8 == 0 ? set(connection, number) : get(connection, number);
    }
  });
  control.send("shutdown\r\n");
  uint64_t all = 0;
  for (long one : right) all += one;
  return bench::finish(all);
}
