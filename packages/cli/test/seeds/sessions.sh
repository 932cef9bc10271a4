# Create with default agent
curl -X POST http://localhost:8000/sessions \
  -d '{"title": "Default Agent Session"}'

# Create with specific agent
curl -X POST http://localhost:8000/sessions \
  -d '{"title": "Code Review", "agent_name": "readonly"}'

# Switching agents
curl -X PATCH http://localhost:8000/sessions/{session_id} \
  -d '{"agent_name": "security-auditor"}'

# Default agent
curl -X POST http://localhost:8000/sessions \
  -H "Content-Type: application/json" \
  -d '{"title": "My session"}'

# Specific agent
curl -X POST http://localhost:8000/sessions \
  -H "Content-Type: application/json" \
  -d '{"title": "Code review", "agent_name": "readonly"}'

# Session with orchestration metadata
curl -X POST http://localhost:8000/sessions \
  -H "Content-Type: application/json" \
  -d '{
    "title": "PR review session",
    "metadata": {
      "workflow_id": "pr-review",
      "repository": "myorg/myrepo",
      "pr_number": "42"
    }
  }'

# Per-session LLM override
curl -X PATCH http://localhost:8000/sessions/{id} \
  -H "Content-Type: application/json" \
  -d '{"config": {"model": "gpt-4o-mini", "temperature": 0.2}}'

# Session metadata
curl -X PATCH http://localhost:8000/sessions/{id} \
  -H "Content-Type: application/json" \
  -d '{
    "metadata": {
      "workflow_id": "pr-review",
      "repository": "myorg/myrepo",
      "pr_number": "42"
    }
  }'

# Find sessions for a repository
curl "http://localhost:8000/sessions?metadata.repository=myorg/myrepo"

# Find a specific orchestration target
curl "http://localhost:8000/sessions?metadata.repository=myorg/myrepo&metadata.pr_number=42"
