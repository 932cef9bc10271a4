# -N disables curl buffering so tokens appear as they arrive
curl -N -X POST http://localhost:8000/sessions/${SESSION}/messages \
  -H "Content-Type: application/json" \
  -d '{"content": "List the files in this directory."}'

# Async completion callback
curl -X POST http://localhost:8000/sessions/{id}/messages \
  -H "Content-Type: application/json" \
  -d '{
    "content": "Review this PR and summarize the key risks.",
    "callback_url": "https://example.com/cognition-callback"
  }'

# First page (most recent 50)
curl "http://localhost:8000/sessions/${SESSION}/messages"

# Second page
curl "http://localhost:8000/sessions/${SESSION}/messages?limit=50&offset=50"

# Abort
curl -X POST http://localhost:8000/sessions/${SESSION}/abort
