// One call to every writing endpoint that a client starts with, and to two that read.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	"askback.example/client/api"
	"github.com/google/uuid"
)

func main() {
	withKey := api.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-API-Key", os.Getenv("ASKBACK_KEY"))
		return nil
	})
	client, err := api.NewClientWithResponses(os.Getenv("ASKBACK_URL"), withKey)
	check(err)
	ctx := context.Background()
	surveyID := uuid.MustParse(os.Getenv("SURVEY_ID"))

	saved, err := client.SaveContactWithResponse(ctx, nil, api.SaveContactJSONRequestBody{
		Email: "ada@example.com", SurveyId: surveyID, Properties: &map[string]any{"plan": "pro"},
	})
	check(err)
	body := api.SendSurveyJSONRequestBody{}
	check(json.Unmarshal([]byte(`{"contacts":[{"email":"grace@example.com"}]}`), &body))
	sent, err := client.SendSurveyWithResponse(ctx, surveyID, &api.SendSurveyParams{DryRun: pointer(true)}, body)
	check(err)
	link, err := client.AnswerSharedWithResponse(ctx, os.Getenv("SHARE_ID"), api.AnswerSharedJSONRequestBody{
		Score: 9, Comment: pointer("Setup took five minutes."),
	})
	check(err)
	listed, err := client.ListResponsesWithResponse(ctx, &api.ListResponsesParams{
		DateFrom: pointer("2026-04-01"), Limit: pointer(10),
	})
	check(err)
	nps, err := client.GetNpsWithResponse(ctx, nil)
	check(err)
	filtered, err := client.GetNpsWithResponse(ctx, &api.GetNpsParams{
		Property: &api.PropertyParameter{"property.plan": "pro"},
	})
	check(err)

	statuses, comments := []string{}, []*string{}
	for _, result := range sent.JSON200.Data.Results {
		statuses = append(statuses, string(result.Status))
	}
	for _, response := range listed.JSON200.Data {
		comments = append(comments, response.Comment)
	}
	text, err := json.Marshal(map[string]any{
		"contact": saved.JSON201.Data.Email, "results": statuses, "score": link.JSON201.Data.Score,
		"comments": comments, "promoters": nps.JSON200.Data.Promoters,
		"promoters_on_plan": filtered.JSON200.Data.Promoters,
	})
	check(err)
	fmt.Println(string(text))
}

func pointer[T any](value T) *T { return &value }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
