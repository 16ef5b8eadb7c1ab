// The network that an address counts as.

import t from 'tap';
import { networkOf, siteNetworkOf } from '../../http/limits/network-address.ts';

t.test('[8 limits] an IPv4 address is its own network, in every notation', async (t) => {
  for (const address of [
    '192.0.2.7',
    '::ffff:192.0.2.7',
    '::FFFF:192.0.2.7',
    '::ffff:c000:207',
    '0:0:0:0:0:ffff:c000:0207',
    '0000:0000:0000:0000:0000:ffff:c000:0207',
  ])
    t.equal(networkOf(address), '192.0.2.7', address);
});

t.test('[8 limits] addresses of one /64 are one network, of two they are two', async (t) => {
  for (const address of [
    '2001:db8:0:1::1',
    '2001:db8:0:1:ffff:ffff:ffff:ffff',
    '2001:0DB8:0000:0001::',
    '2001:db8:0:1:0:0:192.0.2.7',
    '2001:db8:0:1::1%eth0',
  ])
    t.equal(networkOf(address), '2001:db8:0:1::/64', address);
  t.equal(networkOf('2001:db8:0:2::1'), '2001:db8:0:2::/64');
  t.equal(networkOf('::1'), '0:0:0:0::/64');
  t.equal(networkOf('fe80::1%2'), 'fe80:0:0:0::/64');
});

t.test('[8 limits] text that is not an address stays unchanged', async (t) => {
  for (const text of ['', 'nowhere', '1.2.3', 'unix:']) t.equal(networkOf(text), text);
});

t.test('[8 limits] a port that a proxy wrote behind an address makes it no other', async (t) => {
  t.equal(networkOf('192.0.2.7:50123'), '192.0.2.7');
  for (const address of ['[2001:db8:0:1::7]', '[2001:db8:0:1::8]:50123'])
    t.equal(networkOf(address), '2001:db8:0:1::/64', address);
  t.equal(siteNetworkOf('[2001:db8:0:1::8]:50123'), '2001:db8:0::/48');
});

t.test('[8 limits] the networks of one site are in one /48; an IPv4 address is in none', async (t) => {
  for (const address of ['2001:db8:7:1::1', '2001:db8:7:ffff::1', '2001:0DB8:0007::'])
    t.equal(siteNetworkOf(address), '2001:db8:7::/48', address);
  t.equal(siteNetworkOf('2001:db8:8:1::1'), '2001:db8:8::/48');
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '::ffff:c000:207', '', 'nowhere'])
    t.equal(siteNetworkOf(address), undefined, address);
});
