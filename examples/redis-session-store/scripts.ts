/**
 * Redis runs a script from start to end with nothing in between: each is one step, as a transaction is in SQL.
 * KEYS: active, session, used, log, last id. `active` holds the member of the chat's one active session, a member being
 * the JSON of [user_id, chat_id, session_id]; `used` has the members of active sessions by their last use.
 */
const END = `
local function finish(member)
  local session = ARGV[1] .. 'session:' .. member
  redis.call('HSET', session, 'is_active', '0')
  redis.call('ZREM', ARGV[1] .. 'used', member)
  redis.call('DEL', redis.call('HGET', session, 'active_key'))
end
`;

/** ARGV: prefix, member, "create" or "save", is_active, last_used in ms, then fields and values. */
export const STORE = `${END}
local current = redis.call('GET', KEYS[1])
if ARGV[3] == 'create' and current then return redis.call('HGETALL', ARGV[1] .. 'session:' .. current) end
if ARGV[4] == '1' then
  if redis.call('HGET', KEYS[2], 'is_active') == '0' then return 'ended' end
  if current and current ~= ARGV[2] then finish(current) end
  redis.call('SET', KEYS[1], ARGV[2])
  redis.call('ZADD', KEYS[3], ARGV[5], ARGV[2])
elseif current == ARGV[2] then
  finish(current)
end
redis.call('HSET', KEYS[2], 'active_key', KEYS[1], unpack(ARGV, 6))
return redis.call('HGETALL', KEYS[2])`;

/** ARGV: prefix, member, count, cost, last_used or "", its ms, how many fields and values, those, then (ms, message) pairs. */
export const UPDATE = `
if redis.call('GET', KEYS[1]) ~= ARGV[2] then return false end
redis.call('HINCRBY', KEYS[2], 'message_count', ARGV[3])
redis.call('HINCRBYFLOAT', KEYS[2], 'total_cost', ARGV[4])
if redis.call('HGET', KEYS[2], 'last_used') < ARGV[5] then
  redis.call('HSET', KEYS[2], 'last_used', ARGV[5])
  redis.call('ZADD', KEYS[3], ARGV[6], ARGV[2])
end
local fields = tonumber(ARGV[7])
for i = 8, 7 + fields, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
for i = 8 + fields, #ARGV, 2 do
  redis.call('ZADD', KEYS[4], ARGV[i], string.format('%016d', redis.call('INCR', KEYS[5])) .. ARGV[i + 1])
end
return redis.call('HGETALL', KEYS[2])`;

/** ARGV: prefix. */
export const DELETE = `${END}
local current = redis.call('GET', KEYS[1])
if current then finish(current) end`;

/** ARGV: prefix, ms. */
export const EXPIRE = `${END}
local old = redis.call('ZRANGE', ARGV[1] .. 'used', '-inf', '(' .. ARGV[2], 'BYSCORE')
for _, member in ipairs(old) do finish(member) end
return #old`;

/** ARGV: ms, message. */
export const LOG = `
local id = redis.call('INCR', KEYS[5])
redis.call('ZADD', KEYS[4], ARGV[1], string.format('%016d', id) .. ARGV[2])
return id`;
